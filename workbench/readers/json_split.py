"""Arrays and objects of a JSON document taken apart without decoding what is in them.

A document that parses is split exactly. One that does not is split element by element, and after
a damaged element the next whole one is looked for, so that a fault costs one record and not the rest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

_SPACE = re.compile(rb"[ \t\r\n]*")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
#: Where a next element, or the first one of a further array, may begin.
_NEXT = re.compile(
    rb',[ \t\r\n]*(?=\{)|\][ \t\r\n]*,[ \t\r\n]*"((?:[^"\\]|\\.){0,1000}+)"[ \t\r\n]*:[ \t\r\n]*\[[ \t\r\n]*(?=\{)'
)
#: A bracket that closes an array: the document ends, or another key follows. Others are damage.
_CLOSES = re.compile(rb'\][ \t\r\n\]}]*(?:\Z|,[ \t\r\n]*")')
_ARRAY = re.compile(rb'"((?:[^"\\]|\\.){0,1000}+)"[ \t\r\n]*:[ \t\r\n]*\[', re.DOTALL)
_PIECE, _LONGEST_WORD = 4096, 16
_raw_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
_raw_dict = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_scan = json.JSONDecoder().raw_decode

_FAILURES = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a document: an element, or what is left where one was damaged (`whole` is false).

    `key` is that of the array it stands in, where the document was damaged and held several.
    """

    start: int
    end: int
    whole: bool = True
    key: str = ""


def _skip(document: bytes, at: int) -> int:
    found = _SPACE.match(document, at)
    return found.end() if found else at


def split_array(document: bytes, start: int = 0, end: int | None = None) -> list[Piece] | None:
    """Elements of the array that fills `start…end`; None where it is no valid array."""
    try:
        elements = _raw_list(document if start == 0 and end is None else document[start:end])
    except _FAILURES:
        return None
    at = document.index(b"[", start) + 1
    pieces = []
    for element in elements:
        at = _skip(document, at)
        size = len(bytes(element))
        pieces.append(Piece(at, at + size))
        at = _skip(document, at + size) + 1  # behind the comma
    return pieces


def split_object(document: bytes, start: int = 0, end: int | None = None) -> list[tuple[str, Piece]] | None:
    """Keys and values of the object that fills `start…end`; None where it is no valid object.

    The last value counts where a key is repeated, as for any decoder.
    """
    try:
        members = _raw_dict(document if start == 0 and end is None else document[start:end])
    except _FAILURES:
        return None
    at = document.index(b"{", start) + 1
    found: dict[str, Piece] = {}
    while True:
        at = _skip(document, at)
        name = _STRING.match(document, at)
        if name is None:
            return list(found.items())
        at = _skip(document, _skip(document, name.end()) + 1)  # behind the colon
        try:
            key = msgspec.json.decode(name[0], type=str)
            size = len(bytes(members[key]))
            if bytes(members[key]) != document[at : at + size]:
                size = _value_size(document, at)  # an earlier value of a repeated key
        except (*_FAILURES, KeyError, ValueError):
            return None
        found[key] = Piece(at, at + size)
        at = _skip(document, at + size) + 1


def _value_size(document: bytes, at: int) -> int:
    return int(_scan(document[at:].decode("latin-1"))[1])


def value_after(document: bytes, key: str, start: int, end: int) -> Piece | None:
    """The first value under `key` in a damaged stretch, if it is whole."""
    found = re.compile(rb'"' + re.escape(key.encode()) + rb'"[ \t\r\n]*:[ \t\r\n]*').search(
        document, start, end
    )
    if found is None:
        return None
    text = document[found.end() : end].decode("latin-1")
    try:
        return Piece(found.end(), found.end() + _scan(text)[1])
    except (ValueError, RecursionError):
        return None


class Salvage:
    """Elements of arrays in a document that does not parse.

    `wanted` tells whether a decoded object is an element: objects inside a damaged element are
    not, and are passed over. `closers` is how many brackets stand behind the last element of the
    last array of a whole document. Work is bounded, whatever the document does.
    """

    def __init__(self, document: bytes, wanted: Callable[[dict[str, Any]], bool], closers: int = 1) -> None:
        self.document = document
        self.wanted = wanted
        self._closers = closers
        # One byte is one character, so that positions are offsets.
        self._text = document.decode("latin-1")
        self._work = 8 * len(document) + 1_000_000
        #: whether the last array was closed
        self.closed = False

    def element(self, at: int) -> tuple[Any, int] | None:
        """The value that begins at `at` and its end, if it is whole."""
        if self._work <= 0:
            return None
        # the error of a decoder counts all lines before it: most values are told by a short piece
        piece = self._text[at : at + _PIECE]
        try:
            value, end = _scan(piece)
            self._work -= end
            return value, at + end
        except json.JSONDecodeError as problem:
            if problem.pos < len(piece) - _LONGEST_WORD and not problem.msg.startswith("Unterminated"):
                self._work -= max(problem.pos, 64)
                return None
        except (RecursionError, ValueError):
            pass  # the same again below, which says what it costs
        try:
            value, end = _scan(self._text, at)
        except json.JSONDecodeError as problem:
            self._work -= max(problem.pos - at, 64)
            return None
        except (RecursionError, ValueError):
            self._work -= 100_000
            return None
        self._work -= end - at
        return value, end

    def pieces(self, start: int, key: str = "") -> Iterator[Piece]:
        """Elements from `start`, which is just behind the opening bracket of an array."""
        document = self.document
        at = _skip(document, start)
        self.closed = False
        while at < len(document):
            if _CLOSES.match(document, at):
                self.closed = True
                further = _NEXT.match(document, at)
                if further is None or further[1] is None:
                    return
                key, at = further[1].decode("utf-8", "replace"), further.end()
                self.closed = False
                continue
            found = self.element(at) if document[at : at + 1] == b"{" else None
            if found is not None:
                end = _skip(document, found[1])
                if self._ends(at, end):
                    yield Piece(at, found[1], key=key)
                    at = _skip(document, end + 1) if document[end : end + 1] == b"," else end
                    continue
            at, key, lost = self._resume(at, key)
            yield lost

    def _ends(self, start: int, behind: int) -> bool:
        """Whether what follows a value is what follows an element.

        At the end of the document, a value that has elements inside it has swallowed them: its
        own closing brackets are lost and those of the document were taken for them.
        """
        if behind < len(self.document):
            tail = self.document[behind : behind + 64].translate(None, b" \t\r\n")
            if len(tail) >= self._closers or tail.strip(b"]}"):
                return tail[:1] in (b",", b"]")
        for found in _NEXT.finditer(self.document, start):
            value = self.element(found.end())
            if value is not None and isinstance(value[0], dict) and self.wanted(value[0]):
                return False
        return True

    def _resume(self, at: int, key: str) -> tuple[int, str, Piece]:
        """The next whole element behind a damaged one that begins at `at`."""
        document = self.document
        # Every `,{` is a candidate, also inside the damaged element.
        search = at
        while (found := _NEXT.search(document, search)) is not None:
            search = found.start() + 1
            value = self.element(found.end())
            if value is None or not isinstance(value[0], dict) or not self.wanted(value[0]):
                continue
            behind = _skip(document, value[1])
            if self._ends(found.end(), behind):
                new = key if found[1] is None else found[1].decode("utf-8", "replace")
                return found.end(), new, Piece(at, found.start(), whole=False, key=key)
        # The rest is one damaged element, up to the brackets that close the document.
        tail = re.compile(rb"[ \t\r\n]*\][ \t\r\n\]}]*\Z").search(document, max(at, len(document) - 4096))
        self.closed = tail is not None
        end = tail.start() if tail else len(document)
        return len(document), key, Piece(at, end, whole=False, key=key)

    def arrays(self) -> Iterator[Piece]:
        """Elements of all arrays that stand under a key; an array without objects is passed over."""
        at = 0
        while (found := _ARRAY.search(self.document, at)) is not None:
            plain = self.element(found.end() - 1)
            if plain is not None and not any(isinstance(item, dict) for item in plain[0]):
                at = plain[1]
                if _CLOSES.match(self.document, at - 1):
                    continue
            last = found.end()
            for piece in self.pieces(found.end(), found[1].decode("utf-8", "replace")):
                last = piece.end
                yield piece
            at = last
