"""Rules ask the tables. One folder a family; a module that is here is registered by being imported."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from workbench.findings import Finding, Findings, Skipped, merged, ordered
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


def check(trace: Trace, *, select: Iterable[str] = (), ignore: Iterable[str] = ()) -> Findings:
    """Ask every rule; the findings come worst first.

    `select` and `ignore` are names, codes or families (`approval`, `APR`); an empty
    `select` means all. A rule whose tables are missing is skipped with a reason. Raises
    `ValueError` for a word that fits no rule.
    """
    rules = all_rules()
    wanted, unwanted = tuple(select), tuple(ignore)
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
        found.extend(made.run(trace))
    return Findings(trace, ordered(merged(found)), skipped)


def _fits(made: Rule, word: str) -> bool:
    return word in (made.name, made.code, made.family, made.code[:3])
