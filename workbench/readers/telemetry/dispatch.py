"""Tells what a JSON value is and hands it to the dialect that reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from workbench.readers.reading import Reading
from workbench.readers.telemetry import salvage
from workbench.readers.telemetry.nodes import Newlines, Node, node_of
from workbench.readers.telemetry.otlp import ITEMS, RESOURCES, SCOPES, OtlpReader
from workbench.readers.telemetry.writer import SignalWriter

#: Keys of an object with the first character of their values, see `sniff.object_keys`
Keys = Mapping[str, str]


class Telemetry:
    """Takes JSON values of any dialect; one per content."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.writer = SignalWriter(reading)
        self.otlp = OtlpReader(self.writer)

    def take(self, data: bytes, line: int, offset: int) -> str:
        """Any value: "" when it was used or ignored, else why it could not be."""
        if data.startswith(b'{"resourceSpans"') and self.otlp.fast(data, line, offset):
            return ""
        node, why, repair = node_of(data, line, offset)
        if node is None:
            return why
        if repair:
            self.reading.remark(repair, line=line if line > 0 else None, offset=offset, data=data)
        why = self.node(node)
        if why == UNKNOWN:
            self.reading.ignore("other JSON")
            return ""
        return why

    def node(self, node: Node) -> str:
        """A value with its place; "" or why it could not be used."""
        if node.first == "[":
            for element in node.elements():
                why = self.node(element)
                if why:
                    self.bad(why, element)
            return ""
        if node.first != "{":
            return "JSON, but no object"
        members = node.members()
        keys = {key: member.first for key, member in members.items()}
        for shape in shapes():
            if shape.fits(keys):
                return shape.take(self, Found(node, members))
        return UNKNOWN

    def damaged(self, why_not: str, data: bytes, line: int, offset: int) -> bool:
        """Take what is whole in a value that does not parse; False where there is nothing to be had."""
        whole = 0
        faults: list[Node] = []
        newlines, around = Newlines(data), salvage.Around(data)
        otlp = any(word in data for word in OTLP_WORDS)
        for piece in salvage.pieces(data):
            node = Node(data, piece.start, piece.end, offset, line, newlines=newlines)
            if not piece.whole:
                faults.append(node)
                continue
            whole += 1
            if piece.key in ITEMS and otlp:
                self.otlp.item(ITEMS[piece.key], node, *around.of(piece))
            elif why := self.node(node):
                self.bad(why, node)
        if whole:
            for node in faults:
                self.bad("damaged: not JSON", node)
            if not faults:
                self.reading.remark(why_not, line=line if line > 0 else None, offset=offset, data=data)
        return whole > 0

    def bad(self, why: str, node: Node) -> None:
        """A record that cannot be used."""
        place = node.place
        self.reading.problem(
            why, line=place.line if place.line > 0 else None, offset=place.offset, data=node.text
        )


#: What tells OTLP's arrays of spans from those of other dialects
OTLP_WORDS = (b"UnixNano", b"unix_nano")
UNKNOWN = "JSON, but no telemetry of a known form"


class Found(NamedTuple):
    """An object, and its values by key."""

    node: Node
    members: dict[str, Node]


@dataclass(frozen=True, slots=True)
class Shape:
    """One form of objects: how it is told, and what takes it. `format` is the format it belongs to."""

    name: str
    format: str
    fits: Callable[[Keys], bool]
    take: Callable[[Telemetry, Found], str]


def _take_otlp(telemetry: Telemetry, found: Found) -> str:
    telemetry.otlp.walk(found.members)
    return ""


def _is_otlp(keys: Keys) -> bool:
    return any(keys.get(key) == "[" for key in RESOURCES) or any(keys.get(key) == "[" for key in SCOPES)


OTLP = Shape("export", "otlp", _is_otlp, _take_otlp)
_SHAPES: list[Shape] = []


def shapes() -> list[Shape]:
    """All shapes in the order in which they are tried."""
    if not _SHAPES:
        from workbench.readers.telemetry import catalogue

        _SHAPES.extend(catalogue.SHAPES)
    return _SHAPES
