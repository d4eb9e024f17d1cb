"""Python values as people print and paste them: over several lines, shortened with dots, cut at the end.

`python_repr.literal` takes only what is whole; this takes what is there, and says whether something is not.
Nothing is run: names and calls (`Timeout(connect=5)`, `<object at 0x…>`) become None.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_SPACE = re.compile(r"\s+")
_STRING = re.compile(r"[bru]{0,2}('''|\"\"\"|'|\")", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?|\.\d+|inf\b|nan\b)")
_NAME = re.compile(r"[A-Za-z_][\w.]*")
#: what people and loggers put in place of what they leave out
ELLIPSIS = re.compile(
    r"…|\.{3,}|<[^<>\n]{0,40}(?:truncated|omitted|elided|more|snip)[^<>\n]{0,40}>|\[\.{3}\]", re.IGNORECASE
)
_ESCAPE = re.compile(
    r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|N\{[^}]{1,80}\}|\n|.)", re.DOTALL
)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "a": "\a", "0": "\0", "\n": ""}
_CONSTANTS = {"None": None, "True": True, "False": False, "null": None, "true": True, "false": False}
_CLOSE = {"{": "}", "[": "]", "(": ")"}
_DEEPEST = 200


@dataclass(frozen=True, slots=True)
class Value:
    """A value and the index behind it. `elided`: dots stand for something; `cut`: the text ends inside."""

    value: Any
    end: int
    elided: bool
    cut: bool


class _Reader:
    def __init__(self, text: str, at: int, end: int) -> None:
        self.text, self.at, self.end = text, at, end
        self.elided = self.cut = False

    def space(self) -> None:
        found = _SPACE.match(self.text, self.at, self.end)
        if found:
            self.at = found.end()

    def dots(self) -> bool:
        """Pass over dots that stand for values."""
        found = ELLIPSIS.match(self.text, self.at, self.end)
        if found:
            self.elided = True
            self.at = found.end()
        return found is not None

    def value(self, depth: int) -> Any:
        if self.at >= self.end:
            self.cut = True
            return None
        first = self.text[self.at]
        if first in _CLOSE and depth < _DEEPEST:
            return self.mapping(depth) if first == "{" else self.items(first, depth)
        string = _STRING.match(self.text, self.at, self.end)
        if string:
            return self.strings(string)
        number = _NUMBER.match(self.text, self.at, self.end)
        if number and number[0] not in "+-":
            self.at = number.end()
            return _number(number[0])
        name = _NAME.match(self.text, self.at, self.end)
        if name:
            self.at = name.end()
            if name[0] in _CONSTANTS:
                return _CONSTANTS[name[0]]
            if self.text[self.at : self.at + 1] in ("(", "["):
                self.skipped()
            return None
        if first == "<":
            return self.shown()
        self.at += 1  # a character of no value
        return None

    def strings(self, found: re.Match[str]) -> str:
        """A string, or several beside each other, which Python joins."""
        made = []
        following: re.Match[str] | None = found
        while following is not None:
            made.append(self.string(following))
            self.space()
            following = _STRING.match(self.text, self.at, self.end)
        return "".join(made)

    def string(self, found: re.Match[str]) -> str:
        quote, start = found[1], found.end()
        at = start
        while True:
            stop = self.text.find(quote, at, self.end)
            if stop < 0:
                self.cut = True
                self.at = self.end
                return _unescaped(self.text[start : self.end])
            slashes = (
                stop - len(self.text[start:stop].rstrip("\\")) - start if self.text[stop - 1] == "\\" else 0
            )
            if slashes % 2 == 0:
                self.at = stop + len(quote)
                inside = self.text[start:stop]
                return inside if "r" in found[0].lower() else _unescaped(inside)
            at = stop + 1

    def shown(self) -> Any:
        """`<EventType.X: 'x'>` is its value, `<object at 0x…>` is none."""
        stop = self.text.find(">", self.at, min(self.end, self.at + 2000))
        inside = self.text[self.at + 1 : stop] if stop >= 0 else ""
        self.at = stop + 1 if stop >= 0 else self.at + 1
        value = re.fullmatch(r"[\w.]+: '([^'\\]*)'", inside)
        return value[1] if value else None

    def skipped(self) -> None:
        """The brackets behind a name, whatever stands in them."""
        stack = []
        while self.at < self.end:
            first = self.text[self.at]
            string = _STRING.match(self.text, self.at, self.end) if first in "'\"" else None
            if string:
                self.string(string)
                continue
            if first in _CLOSE:
                stack.append(_CLOSE[first])
            elif stack and first == stack[-1]:
                stack.pop()
            self.at += 1
            if not stack:
                return
        self.cut = True

    def member(self, close: str) -> bool:
        """Go to the next member; False behind the last, where another bracket or the end of the text is a cut."""
        while True:
            self.space()
            if self.at >= self.end:
                self.cut = True
                return False
            first = self.text[self.at]
            if first in "]})":
                self.at += first == close
                self.cut = self.cut or first != close
                return False
            if first == ",":
                self.at += 1
            elif not self.dots():
                return True

    def items(self, bracket: str, depth: int) -> list[Any]:
        self.at += 1
        made: list[Any] = []
        while self.member(_CLOSE[bracket]):
            made.append(self.value(depth + 1))
        return made

    def mapping(self, depth: int) -> dict[str, Any]:
        self.at += 1
        made: dict[str, Any] = {}
        while self.member("}"):
            key = self.value(depth + 1)
            self.space()
            if self.text[self.at : self.at + 1] != ":":
                continue  # a set's member, or what is left of a pair
            self.at += 1
            self.space()
            if self.dots():
                continue
            made[str(key)] = self.value(depth + 1)
        return made


def read(text: str, start: int, end: int | None = None) -> Value:
    """The value that begins at `start`, up to `end` at most; never raises."""
    reader = _Reader(text, start, len(text) if end is None else end)
    value = reader.value(0)
    return Value(value, reader.at, reader.elided, reader.cut)


def _number(text: str) -> int | float:
    plain = text.replace("_", "")
    try:
        return int(plain) if len(plain) < 40 and plain.lstrip("+-").isdigit() else float(plain)
    except ValueError:
        return 0


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    what = found[1]
    if what in _ESCAPED:
        return _ESCAPED[what]
    try:
        if what[0] in "xuU":
            return chr(int(what[1:], 16))
        if what[0].isdigit():
            return chr(int(what, 8))
    except (ValueError, OverflowError):
        return found[0]
    return found[0] if what[0] == "N" and len(what) > 1 else what if what in "\\'\"" else found[0]
