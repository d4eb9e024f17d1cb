"""The catalogue of rules is complete: every name that AG-UI events, requests and snapshots can show."""

from __future__ import annotations

from workbench.rules import all_rules

CATALOGUE = """
run-start-missing run-nested run-end-missing event-after-run-end run-ended-twice run-id-changed run-id-reused
run-parent-unknown run-error run-error-hidden runs-interleaved
call-not-open call-start-duplicated call-not-closed call-executed-twice call-repeated call-duplicated
call-unanswered call-id-collision call-id-changed call-id-empty call-name-empty call-name-changed
call-args-invalid call-args-concatenated call-args-not-object call-args-missing call-parent-unknown
text-inside-call
result-orphaned result-before-call-end result-duplicated result-conflicting result-replayed result-placeholder
result-error result-misplaced result-wrong-role result-is-decision
approval-pending approval-unanswered approval-partial approval-answered-twice approval-unknown
approval-not-executed approval-rejected-but-executed approval-bypassed approval-reasked approval-duplicated
approval-id-collision approval-empty approval-not-in-outcome approval-call-unknown approval-expired
approval-refused approval-unanswerable approval-legacy-field approval-after-result rejection-hidden
snapshot-message-missing snapshot-call-missing snapshot-text-differs snapshot-args-differ
snapshot-result-differs snapshot-rekeyed snapshot-order-differs
message-not-open message-not-closed message-start-duplicated message-id-reused message-delta-empty
messages-interleaved step-unbalanced state-delta-failed state-delta-invalid state-delta-before-snapshot
time-backwards time-unit
span-parent-missing span-missing span-content-missing trace-split pause-marked-error result-contradicts-telemetry
approval-misrouted approval-orphaned approval-replayed reasoning-missing reasoning-orphaned
payload-message-missing payload-result-differs payload-leftover-masked provider-rejects provider-disagrees provider-refused
schema-unknown-type schema-field-missing schema-field-invalid schema-snake-case schema-deprecated
"""
NAMES = CATALOGUE.split()


def test_every_rule_of_the_catalogue_exists() -> None:
    assert sorted(NAMES) == sorted(
        name for name, rule in all_rules().items() if _built_in(rule.check.__module__)
    )


def _built_in(module: str) -> bool:
    return module.startswith("workbench.rules.")


def test_codes_are_unique_and_belong_to_one_family() -> None:
    rules = all_rules().values()
    assert len({rule.code for rule in rules}) == len(rules)
    families: dict[str, set[str]] = {}
    for rule in rules:
        families.setdefault(rule.code[:3], set()).add(rule.check.__module__.split(".")[2])
    assert all(len(folders) == 1 for folders in families.values()), families
