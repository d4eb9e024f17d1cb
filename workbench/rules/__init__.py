"""Rules ask the tables. One folder a family; a module that is here is registered by being imported."""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Iterable
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from workbench.findings import Finding, Findings, Skipped, merged, ordered
from workbench.known import known
from workbench.rules.registry import RULES, Rule, rule

if TYPE_CHECKING:
    from workbench.trace import Trace

__all__ = ["RULES", "Rule", "all_rules", "check", "rule"]


def all_rules() -> dict[str, Rule]:
    """Every registered rule, by name: built-in, announced by an installed package, or added in a notebook.

    A package announces a module (or a function that registers) under the entry point group
    `workbench.rules`. What it raises is not caught: a rule that silently is not there would
    be worse.
    """
    _load()
    return dict(sorted(RULES.items(), key=lambda item: item[1].code))


@cache
def _load() -> None:
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        if not module.ispkg:
            importlib.import_module(module.name)
    for entry in entry_points(group="workbench.rules"):
        loaded = entry.load()
        if callable(loaded):
            loaded()


def check(
    trace: Trace, *, select: Iterable[str] = (), ignore: Iterable[str] = (), provider: str = ""
) -> Findings:
    """Ask every rule; the findings come worst first.

    `select` and `ignore` are names, codes or families (`approval`, `APR`); an empty
    `select` means all. A rule whose tables are missing is skipped with a reason. So is a
    rule that raises, with a warning: it must not hide what the others find. With `provider`
    (`openai-chat`, `anthropic`, …) every message list is judged as if it were sent there.
    Raises `ValueError` for a word that fits no rule, or no provider.
    """
    if provider:
        from workbench.providers import PROVIDERS

        if provider not in PROVIDERS:
            raise ValueError(f"no provider is called {provider!r}: {', '.join(PROVIDERS)}")
        trace = trace.sent_to(provider)
    rules = all_rules()
    wanted, unwanted = _words(select), _words(ignore)
    for word in (*wanted, *unwanted):
        if not any(_fits(made, word) for made in rules.values()):
            raise ValueError(f"no rule, code or family is called {word!r}")
    found: list[Finding] = []
    skipped: list[Skipped] = []
    for made in rules.values():
        if wanted and not any(_fits(made, word) for word in wanted):
            continue
        if any(_fits(made, word) for word in unwanted):
            continue
        reasons = [reason for need in made.needs if (reason := trace.missing(need))]
        if reasons:
            skipped.append(Skipped(made.name, "; ".join(reasons)))
            continue
        try:
            found.extend(made.run(trace))
        except Exception as error:  # noqa: BLE001 - a rule is anybody's code
            # the text may quote the capture: nothing of it may act where it is shown
            reason = f"it failed: {type(error).__name__}: {ascii(str(error))[1:-1][:200]}"
            skipped.append(Skipped(made.name, reason, failed=True))
            warnings.warn(f"rule {made.name}: {reason}", RuntimeWarning, stacklevel=2)
    items = ordered(merged(found))
    return Findings(trace, items, skipped, known(trace, items))


def _words(given: Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _fits(made: Rule, word: str) -> bool:
    return word in (made.name, made.code, made.family, made.code[:3])
