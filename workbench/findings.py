"""What a check gives: findings with their evidence, as objects, table and dictionary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from workbench.model import column_of

if TYPE_CHECKING:
    import pandas as pd

    from workbench.known import Known
    from workbench.trace import Trace

_RANK = {"error": 0, "warning": 1, "info": 2}
#: findings that the repr of a check names
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Evidence:
    """A place in the input. `record` counts from 0, `line` from 1, `offset` in bytes of the decoded member."""

    path: str
    member: str = ""
    record: int | None = None
    line: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        inside = f" [{self.member}]" if self.member else ""
        if self.line is not None:
            return f"{self.path}{inside}:{self.line}"
        return f"{self.path}{inside}" + ("" if self.record is None else f" record {self.record}")


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault (or remark) with the ids it is about and where it was seen.

    Rule functions leave `rule`, `code`, `help` and `severity` to the registry, which fills
    them; `severity` may be given where it depends on the case.
    """

    message: str
    place: str = "stream"
    thread_id: str = ""
    run_id: str = ""
    call_ids: tuple[str, ...] = ()
    approval_ids: tuple[str, ...] = ()
    other_ids: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    severity: str = ""
    rule: str = ""
    code: str = ""
    help: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data, as in the JSON of a check."""
        return {
            "rule": self.rule,
            "code": self.code,
            "severity": self.severity,
            "place": self.place,
            "thread_id": self.thread_id,
            "run_id": self.run_id,
            "call_ids": list(self.call_ids),
            "approval_ids": list(self.approval_ids),
            "other_ids": list(self.other_ids),
            "message": self.message,
            "help": self.help,
            "evidence": [asdict(item) for item in self.evidence],
        }


@dataclass(frozen=True, slots=True)
class Skipped:
    """A rule that could not be asked, and why; `failed` where it was asked and raised."""

    rule: str
    reason: str
    failed: bool = False


@dataclass(slots=True, repr=False)
class Findings(Sequence[Finding]):
    """The findings of one check, worst first, and the rules that were skipped."""

    trace: Trace
    items: list[Finding] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    #: bugs that have been replayed, and that these findings are signs of
    known: tuple[Known, ...] = ()

    def __repr__(self) -> str:
        numbers = {severity: sum(f.severity == severity for f in self.items) for severity in _RANK}
        named = ", ".join(f"{n} {s}{'' if n == 1 or s == 'info' else 's'}" for s, n in numbers.items())
        lines = [f"<Findings: {named}; {len(self.skipped)} rules skipped>"]
        for finding in self.items[:_SHOWN]:
            # a control character of the capture must not act in a terminal
            said = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in finding.message)
            lines.append(f"  {finding.severity:8}{finding.rule}: {said}")
        more = len(self.items) - _SHOWN
        return "\n".join([*lines, f"  and {more} more"] if more > 0 else lines)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.items)

    def __getitem__(self, index: Any) -> Any:
        return self.items[index]

    def worst(self) -> str | None:
        """Severity of the worst finding; None where there is none."""
        return min((f.severity for f in self.items), key=_RANK.__getitem__, default=None)

    def at_least(self, severity: str) -> list[Finding]:
        """Findings of that severity or worse."""
        return [f for f in self.items if _RANK[f.severity] <= _RANK[severity]]

    @property
    def frame(self) -> pd.DataFrame:
        """One row per finding; id lists are comma separated, `evidence` is the first place."""
        import pandas as pd

        rows = [
            {
                "severity": f.severity,
                "rule": f.rule,
                "code": f.code,
                "place": f.place,
                "thread_id": f.thread_id,
                "run_id": f.run_id,
                "call_ids": ", ".join(f.call_ids),
                "approval_ids": ", ".join(f.approval_ids),
                "other_ids": ", ".join(f.other_ids),
                "message": f.message,
                "help": f.help,
                "evidence": str(f.evidence[0]) if f.evidence else "",
            }
            for f in self.items
        ]
        columns = [
            "severity", "rule", "code", "place", "thread_id", "run_id", "call_ids",
            "approval_ids", "other_ids", "message", "help", "evidence",
        ]  # fmt: skip
        return pd.DataFrame({name: column_of([row[name] for row in rows], "str") for name in columns})

    def to_dict(self) -> dict[str, Any]:
        """The whole check as plain data, schema 1 (the JSON of `workbench check --format json`)."""
        summary = self.trace.summary()
        return {
            "schema": 1,
            "sources": summary["sources"],
            "problems": summary["problems"],
            "threads": summary["threads"],
            "runs": summary["runs"],
            "calls": summary["calls"],
            "approvals": summary["approvals"],
            "findings": [f.to_dict() for f in self.items],
            "known": [one.to_dict() for one in self.known],
            "skipped": [{"rule": s.rule, "reason": s.reason} for s in self.skipped],
        }


def merged(findings: Sequence[Finding]) -> list[Finding]:
    """One fault, one finding: equal rule and ids in one thread are one, with the evidence of all.

    Message lists are sent again and again, so the same fault is seen many times; payloads
    and histories are kept apart, because a fault may be masked on the way from one to the other.
    """
    kept: dict[tuple[Any, ...], Finding] = {}
    for finding in findings:
        ids = (finding.call_ids, finding.approval_ids, finding.other_ids)
        apart = finding.place if finding.place in ("payload", "history", "telemetry") else "agui"
        # Without any id the place in the input is the identity.
        where = None if any(ids) else (finding.run_id, finding.evidence[:1])
        key = (finding.rule, finding.thread_id, apart, ids, where)
        seen = kept.get(key)
        if seen is None:
            kept[key] = finding
            continue
        worst = min(seen, finding, key=lambda f: _RANK[f.severity])
        evidence = tuple(dict.fromkeys(seen.evidence + finding.evidence))[:20]
        kept[key] = replace(worst, evidence=evidence)
    return list(kept.values())


def ordered(findings: Sequence[Finding]) -> list[Finding]:
    """Worst first, then as found."""
    return sorted(findings, key=lambda f: _RANK[f.severity])
