"""Other characters for those of a text: letter for letter, digit for digit, and always of equal length.

Two ways. `text` exchanges every character depending on all that stand before it: equal texts become
equal, and nothing is learned from a word that two texts share. `pseudonym` exchanges an id piece by
piece, each piece by a permutation of all pieces of its shape: different ids stay different, and an id
that is made of others (`<run>::<call>`) still is.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable
from functools import cache

_LOWER = "abcdefghijklmnopqrstuvwxyz"
_UPPER = _LOWER.upper()
_DIGITS = "0123456789"
_PIECE = re.compile(r"[A-Za-z0-9]+")
_HEX = re.compile(r"[0-9a-fA-F]{6,}")
#: characters of a long piece that one permutation takes in; their number has about 200 bits
_STRETCH = 32
_ROUNDS = 8


@cache
def _alphabet(character: str) -> str:
    """The characters that may stand for one: its kind, in the same 64 code points, so equally long in UTF-8."""
    for letters in (_LOWER, _UPPER, _DIGITS):
        if character in letters:
            return letters
    code = ord(character)
    if code < 128 or 0xD800 <= code < 0xE000:
        return character
    kind = unicodedata.category(character)
    # letters, digits, and symbols as pictures are; punctuation, spaces and marks stay
    if kind[0] not in "LN" and kind != "So":
        return character
    start = code & ~63
    near = (chr(c) for c in range(start, start + 64) if not 0xD800 <= c < 0xE000)
    return "".join(c for c in near if unicodedata.category(c) == kind)


class Exchange:
    """All exchanges of one redaction; `key` decides which, and without it none can be undone."""

    def __init__(self, key: bytes) -> None:
        self._key = hashlib.blake2b(key, digest_size=32).digest()
        self._pieces: dict[str, str] = {}
        self._texts: dict[tuple[str, bool], str] = {}

    def text(self, value: str, keep: Callable[[str], list[tuple[int, int]]] | None = None) -> str:
        """The text with every letter and digit exchanged, except in the stretches that `keep` names."""
        name = (value, keep is not None)
        known = self._texts.get(name)
        if known is None:
            known = self._chained(value)
            for start, end in keep(value) if keep is not None else ():
                known = known[:start] + value[start:end] + known[end:]
            if len(value) < 1000 and len(self._texts) < 200_000:
                self._texts[name] = known
        return known

    def _chained(self, value: str) -> str:
        """Each character moved on in its alphabet by a step that all before it decide; never by none."""
        chain = hashlib.blake2b(key=self._key, digest_size=8)
        out = []
        for character in value:
            letters = _alphabet(character)
            size = len(letters)
            if size > 1:
                step = int.from_bytes(chain.copy().digest(), "big") % (size - 1) + 1
                out.append(letters[(letters.index(character) + step) % size])
            else:
                out.append(character)
            chain.update(character.encode("utf-8", "surrogatepass"))
        return "".join(out)

    def number(self, raw: str) -> str:
        """A JSON number of the same shape; `0` before a point or alone, signs, exponents and `.0` stay."""
        match = re.fullmatch(r"(-?)(\d+)((?:\.\d+)?)((?:[eE][+-]?\d+)?)", raw)
        if match is None:
            return raw
        sign, whole, part, power = match.groups()
        moved = self._chained(whole + (part if part.strip(".0") else ""))
        new = moved[: len(whole)]
        if len(whole) > 1 and whole[0] != "0":
            # no leading zero, and still a permutation of the other nine digits
            digits = "123456789"
            step = self._small("first digit", 8) + 1
            new = digits[(digits.index(whole[0]) + step) % 9] + new[1:]
        elif len(whole) > 1:
            new = "0" + new[1:]
        return sign + new + (moved[len(whole) :] or part) + power

    def _small(self, text: str, size: int) -> int:
        return (
            int.from_bytes(hashlib.blake2b(text.encode(), key=self._key, digest_size=8).digest(), "big")
            % size
        )

    def pseudonym(self, value: str, kept: frozenset[str] = frozenset()) -> str:
        """An id of the same length and alphabet; pieces that are words of `kept` stay."""
        made = _PIECE.sub(lambda m: m[0] if m[0].lower() in kept else self.piece(m[0]), value)
        return made if made.isascii() else "".join(self._foreign(c) for c in made)

    def _foreign(self, character: str) -> str:
        """A character beyond ASCII, always exchanged for the same one."""
        letters = _alphabet(character)
        if character.isascii() or len(letters) < 2:
            return character
        return letters[(letters.index(character) + self._small(letters, len(letters) - 1) + 1) % len(letters)]

    def piece(self, piece: str) -> str:
        """A run of ASCII letters and digits; zeros alone mean "none" and stay."""
        if not piece.strip("0"):
            return piece
        known = self._pieces.get(piece)
        if known is None:
            # case follows the original, so that an id in capitals is still the same id
            lower = piece.lower()
            made = "".join(
                self._permuted(lower[at : at + _STRETCH], at, hexadecimal=bool(_HEX.fullmatch(piece)))
                for at in range(0, len(piece), _STRETCH)
            )
            known = "".join(
                new.upper() if old.isupper() else new for old, new in zip(piece, made, strict=True)
            )
            self._pieces[piece] = known
        return known

    def _permuted(self, text: str, at: int, *, hexadecimal: bool) -> str:
        """One of all texts of the shape, by a keyed permutation (a Feistel network that walks its cycle)."""
        letters = "abcdef" if hexadecimal else _LOWER
        sizes = [10 if c.isdigit() else len(letters) for c in text]
        total, value = 1, 0
        for size, c in zip(sizes, text, strict=True):
            total *= size
            value = value * size + (ord(c) - 48 if c.isdigit() else letters.index(c))
        half = max((total - 1).bit_length() + 1, 2) // 2
        shape = "".join("9" if c.isdigit() else "h" if hexadecimal else "a" for c in text) + str(at)
        while True:
            value = self._feistel(value, half, shape)
            if value < total:
                break
        out = []
        for size, c in zip(reversed(sizes), reversed(text), strict=True):
            value, rest = divmod(value, size)
            out.append(_DIGITS[rest] if c.isdigit() else letters[rest])
        return "".join(reversed(out))

    def _feistel(self, value: int, half: int, shape: str) -> int:
        mask = (1 << half) - 1
        left, right = value >> half, value & mask
        for turn in range(_ROUNDS):
            data = f"{turn} {shape} {right}".encode()
            digest = hashlib.blake2b(data, key=self._key, digest_size=32).digest()
            left, right = right, left ^ (int.from_bytes(digest, "big") & mask)
        return left << half | right
