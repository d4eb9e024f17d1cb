"""The registry of rules: what a rule is, and the decorator that makes one.

A rule is a function `(trace) -> findings`. Its docstring is its documentation, in sections
that `workbench rules NAME`, the docs page and SARIF read:

    What it means, in one line.

    Why it hurts: …
    No fault when: …
    What to do: …
    Example: …
    Sources: …
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from workbench.findings import Finding
from workbench.model import SEVERITIES

if TYPE_CHECKING:
    from workbench.trace import Trace

Scope = Literal["run", "thread", "capture"]
Check = Callable[["Trace"], Iterable[Finding]]

SECTIONS = ("Why it hurts", "No fault when", "What to do", "Example", "Sources")
_HEADING = re.compile(rf"^({'|'.join(SECTIONS)}):\s*", re.MULTILINE)
_CODE = re.compile(r"[A-Z]{3}\d{3}$")
_NAME = re.compile(r"[a-z]+(-[a-z]+)+$")


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of fault. `needs` are what the trace must hold, see `Trace.missing`."""

    name: str
    code: str
    severity: str
    scope: Scope
    needs: tuple[str, ...]
    check: Check

    @property
    def family(self) -> str:
        """First word of the name: run, call, approval, …"""
        return self.name.partition("-")[0]

    @property
    def meaning(self) -> str:
        """The first paragraph of the docstring."""
        return _HEADING.split(inspect.getdoc(self.check) or "")[0].strip()

    @property
    def sections(self) -> dict[str, str]:
        """The docstring by heading; headings that it lacks are left out."""
        pieces = _HEADING.split(inspect.getdoc(self.check) or "")[1:]
        return {name: inspect.cleandoc(text) for name, text in zip(pieces[::2], pieces[1::2], strict=True)}

    @property
    def help(self) -> str:
        """What to do about it, in one paragraph."""
        return " ".join(self.sections.get("What to do", "").split())

    def run(self, trace: Trace) -> Iterator[Finding]:
        """The findings of this rule, with name, code, help and severity filled in.

        Lists of ids and places may be any iterable. Raises `ValueError` for an unknown severity.
        """
        for finding in self.check(trace):
            severity = finding.severity or self.severity
            if severity not in SEVERITIES:
                raise ValueError(f"severity {severity!r} is none of {', '.join(SEVERITIES)}")
            yield replace(
                finding,
                call_ids=tuple(finding.call_ids),
                approval_ids=tuple(finding.approval_ids),
                other_ids=tuple(finding.other_ids),
                evidence=tuple(finding.evidence),
                rule=self.name,
                code=self.code,
                severity=severity,
                help=finding.help or self.help,
            )


RULES: dict[str, Rule] = {}


def rule(
    name: str,
    *,
    code: str,
    severity: Literal["error", "warning", "info"],
    needs: Iterable[str] = ("events",),
    scope: Scope = "thread",
) -> Callable[[Check], Check]:
    """Register a function `(trace) -> findings` as a rule.

    Works in a module of `workbench.rules`, in a package that announces itself under the
    entry point `workbench.rules`, and in a notebook cell (where running the cell again
    replaces the rule). Raises `ValueError` for a bad or taken name or code, or a docstring
    without its sections.
    """

    def register(check: Check) -> Check:
        made = Rule(name, code, severity, scope, tuple(needs), check)
        _validate(made)
        RULES[name] = made
        return check

    return register


def _validate(made: Rule) -> None:
    if not _NAME.match(made.name):
        raise ValueError(f"rule name {made.name!r}: lower-case words joined by '-'")
    if not _CODE.match(made.code):
        raise ValueError(f"rule {made.name}: code {made.code!r} is not three letters and three digits")
    if not made.meaning:
        raise ValueError(f"rule {made.name}: its docstring says nothing")
    taken = next((r for r in RULES.values() if r.code == made.code and r.name != made.name), None)
    if taken:
        raise ValueError(f"rule {made.name}: code {made.code} belongs to {taken.name}")
    known = RULES.get(made.name)
    same_place = known is None or known.check.__qualname__ == made.check.__qualname__
    if not same_place and known is not None and known.check.__module__ != made.check.__module__:
        raise ValueError(f"rule {made.name} is already defined in {known.check.__module__}")
    if made.check.__module__.startswith("workbench.rules."):
        missing = [name for name in SECTIONS if name not in made.sections]
        if missing:
            raise ValueError(f"rule {made.name}: its docstring lacks {', '.join(missing)}")
