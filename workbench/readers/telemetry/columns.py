"""Spans and log records as columns: what joins and tables need at once; the rest stays in the file."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, Self

#: How the bytes of a row are decoded again: names of functions in `detail`
FORMS = (
    "otlp", "otlp-proto", "aspire-dto", "aspire-text", "console", "flat", "zipkin", "jaeger", "devui",
    "langfuse", "azure",
)  # fmt: skip
FORM_CODES = {name: number for number, name in enumerate(FORMS)}

#: Bytes of attributes that count as short
SHORT = 2048

KINDS = ("", "internal", "server", "client", "producer", "consumer")
STATUSES = ("unset", "ok", "error")


class Rows:
    """What spans and log records have in common."""

    __slots__ = ("form", "kept", "length", "line", "member", "offset", "record", "service", "source", "trace")

    def __init__(self) -> None:
        self.source = array("i")
        self.member = array("i")  # number in Records.members
        self.record = array("i")
        self.line = array("i")  # -1: none
        self.offset = array("q")
        self.length = array("i")
        self.form = array("b")  # number in FORMS
        self.trace = array("i")  # this and the other ids and words: codes in Records.pool, -1 none
        self.service = array("i")
        #: bytes to decode for rows that do not stand in their member as one piece
        self.kept: dict[int, bytes] = {}

    def __len__(self) -> int:
        return len(self.source)

    def subset(self, rows: Sequence[int]) -> Self:
        """These rows in this order, as columns of their own."""
        new = type(self)()
        moved = {row: number for number, row in enumerate(rows)}
        for kind in type(self).__mro__[:-1]:
            for name in kind.__dict__["__slots__"]:
                column = getattr(self, name)
                if isinstance(column, dict):
                    made: Any = {moved[row]: value for row, value in column.items() if row in moved}
                elif isinstance(column, array):
                    made = array(column.typecode, (column[row] for row in rows))
                else:
                    made = [column[row] for row in rows]
                setattr(new, name, made)
        return new


class Spans(Rows):
    """Spans, column by column; a row number is the identity of a span."""

    __slots__ = (
        "call", "content", "end", "error", "kind", "name", "operation", "parent", "scope", "span", "start", "status",
        "thread", "tool",
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.span: list[str | None] = []
        self.parent: list[str | None] = []
        self.name = array("i")
        self.kind = array("b")  # number in KINDS
        self.start = array("q")  # NO_TIME: none
        self.end = array("q")
        self.status = array("b")  # number in STATUSES, -1 where the dialect has none
        self.scope = array("i")
        #: status message, else the exception, else error.type
        self.error = array("i")
        # lifted out of the attributes, see `mapping`
        self.operation = array("i")
        self.call = array("i")
        self.tool = array("i")
        self.thread = array("i")
        #: attributes of tool spans as OTLP JSON where they are short; those of others are read again
        self.content: dict[int, bytes] = {}


class Logs(Rows):
    """Log records, column by column; text and attributes are decoded on demand."""

    __slots__ = ("event", "logger", "number", "observed", "order", "severity", "span", "time")

    def __init__(self) -> None:
        super().__init__()
        self.span: list[str | None] = []
        self.time = array("q")  # NO_TIME: none
        self.observed = array("q")
        self.severity = array("i")
        self.number = array("b")  # severity number, -1 where the dialect has none
        self.event = array("i")
        self.logger = array("i")
        #: Aspire's log id, or the position in a list without times; -1: none
        self.order = array("q")
