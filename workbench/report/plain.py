r"""Text from captures, made fit to be shown: control characters visible, length bounded.

Captures are hostile. A terminal obeys escape sequences, a reader is misled by characters
that turn the direction of writing, and a table is broken by a line end. All of them are
replaced by what they are called in Python (`\x1b`, `\u202e`), which stays recognisable.
"""

from __future__ import annotations

import re

# C0 and C1 controls, DEL, line separators, direction marks and overrides, byte order mark, surrogates
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def plain(text: object, limit: int | None = None) -> str:
    """The text in one line without a character that acts; longer than `limit`, it ends in `…`."""
    shown = str(text)
    if limit is not None and len(shown) > limit:
        shown = shown[: limit - 1] + "…"
    return _UNSAFE.sub(_named, shown)


def lines(text: str, limit: int | None = None) -> str:
    """Like `plain`, but line ends stay line ends and tabs become spaces."""
    shown = text.replace("\r\n", "\n").replace("\t", "    ")
    if limit is not None and len(shown) > limit:
        shown = shown[: limit - 1] + "…"
    return "\n".join(_UNSAFE.sub(_named, line) for line in shown.split("\n"))


def _named(match: re.Match[str]) -> str:
    character = match.group()
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def sentence(text: str) -> str:
    """The text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def count(number: int, word: str, words: str = "") -> str:
    """`1 call`, `2 calls`; `words` is the plural where it is not made with an s."""
    return f"{number:,} {word if number == 1 else words or word + 's'}"
