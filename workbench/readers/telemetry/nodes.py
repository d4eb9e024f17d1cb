"""JSON values with their places: a document is gone through without losing where its parts stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.readers import tolerant
from workbench.readers.json_split import split_array, split_object
from workbench.readers.telemetry.writer import Place


class Newlines:
    """Counts the line ends before a place; places that follow each other are counted on from the last."""

    __slots__ = ("_at", "_count", "_data")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = self._count = 0

    def before(self, at: int) -> int:
        """Line ends in front of a place."""
        if at >= self._at:
            self._count += self._data.count(b"\n", self._at, at)
        else:
            self._count -= self._data.count(b"\n", at, self._at)
        self._at = at
        return self._count


@dataclass(frozen=True, slots=True)
class Node:
    """The value at `start…end` of `data`, which begins at `base` in its member.

    `exact` is false where `data` is not what stands there (it was repaired, or text inside of a
    string): then the record keeps its own bytes and its place is that of the whole.
    """

    data: bytes
    start: int
    end: int
    base: int
    line: int
    exact: bool = True
    #: length in the member of what is not exact
    size: int = 0
    #: shared by all nodes of one document
    newlines: Newlines | None = None

    @property
    def text(self) -> bytes:
        """The value's JSON text."""
        if self.start == 0 and self.end == len(self.data):
            return self.data
        return self.data[self.start : self.end]

    @property
    def first(self) -> str:
        """Its first character."""
        return chr(self.data[self.start]) if self.start < self.end else ""

    @property
    def place(self) -> Place:
        """Where it stands, as a record."""
        if not self.exact:
            return Place(self.line, self.base, self.size, self.text)
        line = self.line
        if line > 0 and self.start:
            line += (self.newlines or Newlines(self.data)).before(self.start)
        return Place(line, self.base + self.start, self.end - self.start)

    def value(self) -> Any:
        """The decoded value; None where it is no JSON."""
        return tolerant.decode(self.text).value

    def members(self) -> dict[str, Node]:
        """The values of an object by key; empty for anything else."""
        pieces = split_object(self.data, self.start, self.end) if self.first == "{" else None
        if pieces is None:
            return {}
        # positions of a slice count from its start only where the whole was given
        newlines = self.newlines or Newlines(self.data)
        return {key: self._part(piece.start, piece.end, newlines) for key, piece in pieces}

    def elements(self) -> list[Node]:
        """The elements of an array; empty for anything else."""
        pieces = split_array(self.data, self.start, self.end) if self.first == "[" else None
        newlines = self.newlines or Newlines(self.data)
        return [self._part(piece.start, piece.end, newlines) for piece in pieces or ()]

    def _part(self, start: int, end: int, newlines: Newlines) -> Node:
        return Node(self.data, start, end, self.base, self.line, self.exact, self.size, newlines)

    def inside(self, text: str) -> Node:
        """The JSON value that a string holds."""
        data = text.encode("utf-8", "replace")
        place = self.place
        return Node(data, 0, len(data), place.offset, place.line, exact=False, size=place.length)


def node_of(data: bytes, line: int, base: int) -> tuple[Node | None, str, str]:
    """Some bytes as a value: the node, why there is none, and what had to be repaired."""
    decoded = tolerant.decode(data)
    if decoded.error:
        return None, decoded.error, ""
    if decoded.repaired is None:
        return Node(data, 0, len(data), base, line), "", ""
    repaired = decoded.repaired
    return Node(repaired, 0, len(repaired), base, line, exact=False, size=len(data)), "", decoded.repair
