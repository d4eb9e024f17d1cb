"""Untrusted text: cleaned, measured, wrapped."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from workbench.views import mermaid
from workbench.views.text import clean, escape, has_rtl, isolated, plural, short_id, shorten, width, wrap

anything = st.text(st.characters(codec=None), max_size=300)


@given(anything)
def test_clean_text_is_legal_in_xml_and_on_one_line(text: str) -> None:
    line = clean(text, 200)
    ET.fromstring(f'<a b="{escape(line)}">{escape(line)}</a>')
    assert "\n" not in line
    assert not re.search("[\u202a-\u202e\u2066-\u2069\ud800-\udfff]", line)


@given(anything, st.integers(40, 400), st.integers(1, 4))
def test_wrapped_lines_fit_and_lose_nothing_silently(text: str, room: int, lines: int) -> None:
    whole = clean(text, 300)
    made = wrap(whole, room, lines=lines)
    assert len(made) <= lines
    # one letter with its marks may be wider than the room: then it stands alone
    assert all(width(line) <= room or len(line) <= 12 for line in made)
    if not made or not made[-1].endswith("…"):
        assert "".join("".join(made).split()) == "".join(whole.split())


@given(anything, st.integers(30, 200))
def test_shortened_text_fits_and_is_a_beginning(text: str, room: int) -> None:
    whole = clean(text)
    short = shorten(whole, room)
    assert width(short) <= room or len(short) <= 2
    assert short == whole or whole.startswith(short.removesuffix("…").rstrip())


@given(anything)
def test_mermaid_text_stays_one_label(text: str) -> None:
    label = mermaid.escape(text)
    assert "\n" not in label
    assert not set(re.sub(r"#\d+;", "", label)) & set('#;<>"')
    assert "%%" not in label
    assert not re.search(r"(?<!\w)end(?!\w)", label, re.IGNORECASE)


def test_letters_are_not_torn_from_their_marks() -> None:
    family = "👩‍👩‍👧‍👦"
    for room in range(20, 200, 7):
        for line in wrap(family * 6, room, lines=3):
            assert not line.startswith("\u200d")


def test_controls_are_shown_by_number() -> None:
    assert clean("a\x00b\u202ec\td\n e") == "a⟨U+0000⟩b⟨U+202E⟩c d e"
    assert clean("x" * 20, 5) == "xxxxx…"


def test_right_to_left_text_is_isolated() -> None:
    assert has_rtl("שלום")
    assert not has_rtl("hello")
    assert isolated("שלום") == "\u2068שלום\u2069"
    assert isolated("hello") == "hello"


def test_long_ids_keep_both_ends() -> None:
    assert short_id("call_1") == "call_1"
    assert short_id("af-call-4cc3a1b2c3d4e5f6a7b8") == "af-call-4cc…6a7b8"


def test_plurals() -> None:
    assert [plural(n, "call") for n in (0, 1, 2, 1234)] == ["0 calls", "1 call", "2 calls", "1,234 calls"]
