"""The pictures measured in a browser: no text on another, none outside, none too small."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import workbench as wb

pytestmark = pytest.mark.browser

#: boxes of all texts in CSS pixels relative to the picture, with their font size
MEASURE = """
() => [...document.querySelectorAll('svg')].map(svg => {
  const frame = svg.getBoundingClientRect()
  return {
    width: frame.width, height: frame.height,
    texts: [...svg.querySelectorAll('text')].map(text => {
      const box = text.getBoundingClientRect(), ink = text.getBBox()
      return {
        left: box.left - frame.left, top: box.top - frame.top, right: box.right - frame.left,
        bottom: box.bottom - frame.top, wide: ink.width,
        size: Math.min(...[text, ...text.querySelectorAll('tspan')].map(e => parseFloat(getComputedStyle(e).fontSize))),
        content: [...text.childNodes].filter(n => n.nodeName !== 'title').map(n => n.textContent).join('').slice(0, 60),
      }
    }).filter(t => t.wide > 0),
  }
})
"""


def faults(picture: dict[str, Any]) -> list[str]:
    """What is wrong with the texts of one picture, in words."""
    found = []
    texts = sorted(picture["texts"], key=lambda t: t["top"])
    for text in texts:
        if text["left"] < 0 or text["top"] < 0:
            found.append(f"leaves the canvas at the left or top: {text['content']}")
        if text["right"] > picture["width"] or text["bottom"] > picture["height"]:
            found.append(f"leaves the canvas at the right or bottom: {text['content']}")
        if text["size"] < 11:
            found.append(f"smaller than 11 px: {text['content']}")
    for index, one in enumerate(texts):
        for other in texts[index + 1 :]:
            if other["top"] >= one["bottom"] - 0.5:
                break
            if one["left"] < other["right"] - 0.5 and other["left"] < one["right"] - 0.5:
                found.append(f"overlap: {one['content']!r} and {other['content']!r}")
    return found


def page_of(*svgs: str) -> str:
    return f'<!doctype html><meta charset="utf-8"><body style="margin:0">{"".join(svgs)}'


def test_the_measure_itself_sees_an_overlap(offline_page: Any) -> None:
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="40"><text x="5" y="20" font-size="12">one</text>'
        '<text x="12" y="24" font-size="12">two</text><text x="190" y="20" font-size="10">outside</text></svg>'
    )
    page = offline_page.open(page_of(svg))
    said = " ".join(faults(page.evaluate(MEASURE)[0]))
    assert "overlap: 'one' and 'two'" in said
    assert "right or bottom: outside" in said
    assert "smaller than 11 px: outside" in said


def test_ladders_of_all_captures(traces: Path, offline_page: Any) -> None:
    paths = [path for path in sorted(traces.iterdir()) if path.suffix != ".md"]
    drawn = [wb.sequence_diagram(wb.load(path)) for path in paths]
    page = offline_page.open(page_of(*(diagram.svg for diagram in drawn)))
    measured = page.evaluate(MEASURE)
    assert [faults(picture) for picture in measured] == [[] for _ in paths]
    for picture, diagram in zip(measured, drawn, strict=True):
        assert len(picture["texts"]) >= diagram.arrows


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_hard_ladders_and_timelines(hard: dict[str, wb.Trace], offline_page: Any, scheme: str) -> None:
    offline_page.page.emulate_media(color_scheme=scheme)
    pictures = [wb.sequence_diagram(trace).svg for trace in hard.values()]
    pictures += [wb.timeline(trace).svg for trace in hard.values()]
    page = offline_page.open(page_of(*pictures))
    measured = page.evaluate(MEASURE)
    assert len(measured) == 2 * len(hard)
    assert [faults(picture) for picture in measured] == [[] for _ in measured]
    assert offline_page.requests == []
    assert offline_page.errors == []


def test_timelines_of_all_captures(traces: Path, offline_page: Any) -> None:
    paths = [path for path in sorted(traces.iterdir()) if path.suffix != ".md"]
    page = offline_page.open(page_of(*(wb.timeline(wb.load(path)).svg for path in paths)))
    assert [faults(picture) for picture in page.evaluate(MEASURE)] == [[] for _ in paths]


CONTRAST = """
() => {
  const light = rgb => {
    const [r, g, b] = rgb.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const out = []
  for (const text of document.querySelectorAll('text')) {
    const badge = text.closest('.badge'), mark = text.closest('.mark')
    const under = badge ? badge.querySelector('.head') : mark ? mark.querySelector('rect') : document.querySelector('.paper')
    const paper = light(getComputedStyle(under).fill)
    for (const piece of [text, ...text.querySelectorAll('tspan')]) {
      const ink = light(getComputedStyle(piece).fill)
      out.push([(Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05), text.textContent.slice(0, 40)])
    }
  }
  return out
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_in_light_and_dark(offline_page: Any, scheme: str) -> None:
    offline_page.page.emulate_media(color_scheme=scheme)
    diagram = wb.sequence_diagram(wb.load("sample:duplicate-starts"))
    page = offline_page.open(page_of(diagram.svg))
    ratios = page.evaluate(CONTRAST)
    assert len(ratios) > 50
    assert [pair for pair in ratios if pair[0] < 4.5] == []


def test_the_picture_in_an_image_follows_the_colour_scheme(offline_page: Any, approval: wb.Trace) -> None:
    """As a notebook shows it: inside an <img>, where scripts and outside files are impossible anyway."""
    shots = []
    for scheme in ("light", "dark"):
        offline_page.page.emulate_media(color_scheme=scheme)
        page = offline_page.open(f"<!doctype html>{wb.sequence_diagram(approval).html}")
        page.wait_for_function("document.images[0].complete")
        assert page.evaluate("document.images[0].naturalWidth") > 600
        shots.append(page.screenshot(clip={"x": 0, "y": 0, "width": 200, "height": 200}))
    assert shots[0] != shots[1]
