"""Capture text inside Markdown for an issue, so that nothing of it acts.

Words that could be markup, a mention, a reference or a link become code; in code, GitHub
resolves none of them. What cannot stand in a code span (a pipe in a table) is written as
`<code>` with character references.
"""

from __future__ import annotations

import re

from workbench.report.plain import plain

# A word of letters in any script, digits and the punctuation of prose. A dot or colon inside a
# word may be an address, a hyphen with digits a ticket, a long hexadecimal word a commit; long words
# with digits are ids.
_PROSE = re.compile(
    r"[('\"“‘]*[^\W_]+(?:['’\-/][^\W_]+)*[)'\"”’.,;:?!…]*|[—–→·…/=+%]|\d+(?:[.,:]\d+)*[.,;:%]?"
)
_REFERENCE = re.compile(r"[A-Za-z]+-\d|(?=.*\d)[0-9a-fA-F]{7,40}$|(?=.*\d)[\w-]{12,}$|www\.", re.IGNORECASE)
_AROUND = "()'\"“‘”’.,;:?!…"
_BACKTICKS = re.compile("`+")


def code(text: object, limit: int | None = None, *, table: bool = False) -> str:
    """The text as a code span; in a table one that no pipe ends."""
    shown = plain(text, limit)
    if not shown.strip():
        return "" if not shown else "`␠`"
    if table and "|" in shown:
        return f"<code>{references(shown)}</code>"
    fence = "`" * (longest(shown) + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def prose(text: object, limit: int | None = None, *, table: bool = False) -> str:
    """A sentence that may quote a capture: words that could act become code, the rest stays prose."""
    told: list[str] = []
    risky: list[str] = []

    def close() -> None:
        """Write the words that have to be code as one span, punctuation around it as prose."""
        if not risky:
            return
        words = " ".join(risky)
        core = words.strip(_AROUND) or words
        before, _, after = words.partition(core)
        told.append(f"{before}{code(core, table=table)}{after}")
        risky.clear()

    for word in plain(text, limit).split(" "):
        if not word or (_PROSE.fullmatch(word) and not _REFERENCE.match(word.strip(_AROUND))):
            if word:
                close()
                told.append(word)
            continue
        if word[0] in _AROUND:
            close()
        risky.append(word)
        if word[-1] in _AROUND:
            close()
    close()
    sentence = " ".join(told)
    # A list item or heading would begin with these.
    return f"&#8203;{sentence}" if re.match(r"[+=–—·…/]|\d+[.)]", sentence) else sentence


def fenced(text: str, language: str = "") -> str:
    """A fenced block whose fence is longer than any in the text."""
    fence = "`" * max(3, longest(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def references(text: str) -> str:
    """Every character that means something in Markdown or HTML as a character reference."""
    return "".join(c if c.isalnum() or c == " " else f"&#{ord(c)};" for c in text)


def longest(text: str) -> int:
    """Length of the longest run of backticks."""
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)
