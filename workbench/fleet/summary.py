"""The rows of many captures as one answer: by rule, tool, producer, release and day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.fleet.one import Row
from workbench.model import SEVERITIES

if TYPE_CHECKING:
    import pandas as pd

BY = ("rule", "tool", "producer", "release", "day")
_WORST = {severity: number for number, severity in enumerate(SEVERITIES)}


@dataclass
class Fleet:
    """What was found in many captures. `rows` are those of `one.check_one`, in the order of their names."""

    rows: list[Row] = field(default_factory=list)

    def __repr__(self) -> str:
        errors, warnings = self.severity["error"], self.severity["warning"]
        return f"<Fleet: {len(self.rows):,} captures, {errors:,} errors, {warnings:,} warnings, {len(self.failed):,} not checked>"

    @property
    def failed(self) -> list[Row]:
        """Captures that could not be checked."""
        return [row for row in self.rows if row["problem"]]

    @property
    def severity(self) -> Counter[str]:
        """How many findings of each severity."""
        return Counter(found["severity"] for row in self.rows for found in row["findings"])

    def by(self, what: str, least: str = "warning") -> list[tuple[str, int, int]]:
        """Value, captures, findings, most captures first; `what` is one of `BY`, `least` a severity."""
        captures: dict[str, set[str]] = {}
        findings: Counter[str] = Counter()
        for row in self.rows:
            for found in row["findings"]:
                if _WORST[found["severity"]] > _WORST[least]:
                    continue
                for value in _values(row, found, what):
                    captures.setdefault(value, set()).add(row["key"])
                    findings[value] += 1
        return sorted(
            ((v, len(c), findings[v]) for v, c in captures.items()), key=lambda one: (-one[1], one[0])
        )

    @property
    def findings(self) -> pd.DataFrame:
        """A row per finding, with the capture's name, release and day."""
        import pandas as pd

        told = [
            {"capture": row["name"], "release": row["release"], "day": row["day"], **found}
            for row in self.rows
            for found in row["findings"]
        ]
        columns = ["capture", "release", "day", "rule", "severity", "message", "thread", "run", "calls", "approvals", "tools",
                   "producer", "evidence"]  # fmt: skip
        return pd.DataFrame(told, columns=columns)

    @property
    def captures(self) -> pd.DataFrame:
        """A row per capture."""
        import pandas as pd

        told = [
            {key: row[key] for key in row if key != "findings"}
            | (dict.fromkeys(SEVERITIES, 0) | Counter(f["severity"] for f in row["findings"]))
            for row in self.rows
        ]
        return pd.DataFrame(told)

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain data."""
        return {
            "captures": len(self.rows),
            "events": sum(row["events"] for row in self.rows),
            "calls": sum(row["calls"] for row in self.rows),
            "not_checked": [{"name": row["name"], "problem": row["problem"]} for row in self.failed],
            "findings": {severity: self.severity[severity] for severity in SEVERITIES},
            "by": {
                what: [{"value": v, "captures": c, "findings": f} for v, c, f in self.by(what)] for what in BY
            },
        }


def _values(row: Row, found: Row, what: str) -> Iterable[str]:
    if what == "tool":
        tools: Sequence[str] = found["tools"]
        return tools or ("(none)",)
    value = found[what] if what in found else row[what]
    return (value or "(unknown)",)
