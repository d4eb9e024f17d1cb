"""What a derivation had to assume: each with what speaks for it, and how to say otherwise."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Assumption:
    """One thing that a capture does not show for certain. `override` is what the user may say instead."""

    about: str
    assumed: str
    evidence: str
    override: str = ""

    def __str__(self) -> str:
        other = f" [otherwise: {self.override}]" if self.override else ""
        return f"{self.about}: {self.assumed} ({self.evidence}){other}"

    def told(self) -> dict[str, Any]:
        """As data."""
        return asdict(self)
