"""Untrusted text made fit to be shown: cleaned, measured, shortened, wrapped and escaped.

Captures are hostile: ids, names and contents may hold markup, control characters, text that
runs from right to left, or a megabyte in one word. Everything a view shows goes through here.
Widths are estimates that are meant to be too large rather than too small, because the fonts
of the reader are not known.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from html import escape as _escape

#: characters of a text that are looked at for a label; a tooltip shows no more than this
MAX_TEXT = 600

# Advance widths of a wide sans serif face (the widest that browsers fall back to), in em.
_WIDTHS = {
    " ": 0.32, "!": 0.41, '"': 0.46, "#": 0.84, "$": 0.64, "%": 0.96, "&": 0.79, "'": 0.28, "(": 0.4,
    ")": 0.4, "*": 0.51, "+": 0.84, ",": 0.32, "-": 0.37, ".": 0.32, "/": 0.38, ":": 0.34, ";": 0.34,
    "<": 0.84, "=": 0.84, ">": 0.84, "?": 0.54, "@": 1.01, "A": 0.69, "B": 0.69, "C": 0.7, "D": 0.78,
    "E": 0.64, "F": 0.58, "G": 0.78, "H": 0.76, "I": 0.34, "J": 0.36, "K": 0.66, "L": 0.57, "M": 0.91,
    "N": 0.76, "O": 0.79, "P": 0.61, "Q": 0.79, "R": 0.7, "S": 0.64, "T": 0.62, "U": 0.74, "V": 0.69,
    "W": 1.0, "X": 0.69, "Y": 0.62, "Z": 0.69, "[": 0.4, "\\": 0.38, "]": 0.4, "^": 0.84, "_": 0.51,
    "`": 0.51, "a": 0.62, "b": 0.64, "c": 0.56, "d": 0.64, "e": 0.62, "f": 0.37, "g": 0.64, "h": 0.64,
    "i": 0.29, "j": 0.29, "k": 0.59, "l": 0.29, "m": 0.98, "n": 0.64, "o": 0.62, "p": 0.64, "q": 0.64,
    "r": 0.42, "s": 0.53, "t": 0.4, "u": 0.64, "v": 0.6, "w": 0.82, "x": 0.6, "y": 0.6, "z": 0.53,
    "{": 0.64, "|": 0.34, "}": 0.64, "~": 0.84, "·": 0.34, "…": 1.0, "×": 0.84, "→": 0.86, "“": 0.53,
    "”": 0.53, "–": 0.5, "—": 1.0,
}  # fmt: skip
#: single code points that are drawn as whole phrases
_HUGE = {0xFDFA: 4.0, 0xFDFB: 3.0, 0xFDFD: 13.0, 0x2E3A: 2.1, 0x2E3B: 3.1, 0xA9C5: 4.0}
BOLD = 1.1
LINE, TALL = 17.0, 32.0
# two marks on one letter pile up
_STACKED = re.compile("[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f]{2}")
_FSI, _PDI = "\u2068", "\u2069"
_SPACES = re.compile(r"\s+")
_BIDI_CONTROLS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean(text: object, limit: int = MAX_TEXT) -> str:
    """One line of printable text: at most `limit` characters, the rest said as `…`.

    Runs of white space become one space. Control characters, lone surrogates and marks that
    turn the direction of what follows are shown by their number (`⟨U+202E⟩`), so that nothing
    is hidden and nothing is illegal in XML.
    """
    whole = text if isinstance(text, str) else str(text)
    cut = len(whole) > limit
    line = _SPACES.sub(" ", whole[:limit]).strip()
    if not line.isprintable():
        line = "".join(c if _shown(c) else f"⟨U+{ord(c):04X}⟩" for c in line)
    return f"{line}…" if cut else line


def _shown(char: str) -> bool:
    if char in _BIDI_CONTROLS:
        return False
    # Joiners and variation selectors are not "printable", but emoji and many scripts need them.
    return char.isprintable() or char in "\u200b\u200c\u200d\ufeff"


def escape(text: str) -> str:
    """For XML and HTML, in text and in attributes."""
    return _escape(text, quote=True)


def has_rtl(text: str) -> bool:
    """Whether a character of the text runs from right to left."""
    return not text.isascii() and any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in text)


def isolated(text: str) -> str:
    """The text with direction marks around it where it holds right-to-left characters.

    Without them the neighbouring ids and numbers of a label would change places.
    """
    return f"{_FSI}{text}{_PDI}" if has_rtl(text) else text


@lru_cache(maxsize=4096)
def _wide(char: str) -> float:
    point = ord(char)
    if point in _HUGE:
        return _HUGE[point]
    category = unicodedata.category(char)
    if category in ("Mn", "Me"):
        return 0.1
    if category == "Cf" or 0xFE00 <= point <= 0xFE0F:
        return 0.0
    if 0x1F000 <= point <= 0x1FAFF or 0x2600 <= point <= 0x27BF:
        return 1.45
    if unicodedata.east_asian_width(char) in ("W", "F"):
        return 1.06
    if 0x12000 <= point <= 0x1247F:
        return 5.0
    if 0x0900 <= point <= 0x1CFF or 0xA800 <= point <= 0xABFF:
        # South and South-East Asian scripts: wide letters, wider vowel signs
        return 1.6
    if point > 0xFFFF:
        return 2.0
    if category == "Lu":
        return 1.1
    return 0.95


def width(text: str, size: float = 12.0, *, bold: bool = False) -> float:
    """How wide the text is at most, in pixels, at a font size in pixels."""
    ems = sum(_WIDTHS.get(c) or _wide(c) for c in text)
    return ems * size * (BOLD if bold else 1.0)


def shorten(text: str, room: float, size: float = 12.0, *, bold: bool = False) -> str:
    """The start of the text that fits into `room` pixels, with `…` where it was cut."""
    if width(text, size, bold=bold) <= room:
        return text
    room -= width("…", size, bold=bold)
    used = 0.0
    for index, char in enumerate(text):
        used += width(char, size, bold=bold)
        if used > room:
            return text[: _whole(text, index)].rstrip() + "…"
    return text


def wrap(
    text: str, room: float, size: float = 12.0, *, lines: int = 2, first: float | None = None
) -> list[str]:
    """The text in at most `lines` lines of `room` pixels; the last one is shortened with `…`.

    Breaks at spaces, else after punctuation, else anywhere. `first` is the room of the first line, where it differs.
    """
    out: list[str] = []
    rest = text
    while rest and len(out) < lines - 1:
        space = room if out or first is None else first
        if width(rest, size) <= space:
            break
        head, rest = _break(rest, space, size)
        out.append(head)
    if rest:
        space = room if out or first is None else first
        out.append(shorten(rest, space, size))
    return out


def _break(text: str, room: float, size: float) -> tuple[str, str]:
    used, fits = 0.0, 0
    for index, char in enumerate(text):
        used += width(char, size)
        if used > room:
            break
        fits = index + 1
    cut = text.rfind(" ", 0, fits + 1)
    if cut < fits * 0.25:
        cut = max(text.rfind(mark, 0, fits) + 1 for mark in ",/:;|)]}&?=_-.")
    if cut < fits * 0.25:
        cut = _whole(text, fits)
    cut = cut or _one(text)
    return text[:cut].rstrip(), text[cut:].lstrip()


def _whole(text: str, index: int) -> int:
    """The last break at or before `index` that does not tear a letter from its marks; 0 where there is none."""
    while 0 < index < len(text) and _torn(text, index):
        index -= 1
    return index


def _one(text: str) -> int:
    """Length of the first letter with its marks and joined ones; a pile of marks is cut."""
    return next((n for n in range(1, min(len(text), 12)) if not _torn(text, n)), 1)


def _torn(text: str, index: int) -> bool:
    """Whether a break at `index` would tear a letter from its marks."""
    after, before = text[index], text[index - 1]
    return (
        "\u200d" in (after, before)
        or unicodedata.category(after) in ("Mn", "Me", "Mc")
        or 0xFE00 <= ord(after) <= 0xFE0F
        or 0x1F3FB <= ord(after) <= 0x1F3FF
    )


def short_id(name: object) -> str:
    """An id for a label: long ones keep their beginning and their end."""
    line = clean(name, 200) if name is not None else ""
    return line if len(line) <= 20 else f"{line[: _whole(line, 11)]}…{line[-5:]}"


def pitch(*texts: str) -> float:
    """Distance of lines at 12 px: more where a script is written higher or deeper than Latin letters."""
    return TALL if any(_is_tall(text) for text in texts) else LINE


def _is_tall(text: str) -> bool:
    if text.isascii():
        return False
    if _STACKED.search(text):
        return True
    return any(
        0x0E00 <= (point := ord(char)) <= 0x1CFF or 0xA800 <= point <= 0xABFF or 0xFB50 <= point <= 0xFDFF
        or (point > 0xFFFF and not 0x1F000 <= point <= 0x1FAFF)
        for char in text
    )  # fmt: skip


def plural(count: int, word: str) -> str:
    """`1 call`, `2 calls`, `1,234 events`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"
