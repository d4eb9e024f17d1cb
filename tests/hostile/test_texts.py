"""What looks at texts of a capture takes time in proportion to their length."""

from __future__ import annotations

import time

import pytest

from workbench.calls import decisions, results
from workbench.report import escape, plain
from workbench.rules.calls import words
from workbench.views import grid, mermaid
from workbench.views import text as shown

#: what each pattern could go astray on: its beginning, without its end
PIECES = {
    "letters": "a", "digits": "1", "spaces": " ", "lines": "\n", "dots": ".", "hyphens": "a-", "quotes": "'",
    "backticks": "`", "open": "(", "marks": "[_*<", "escapes": "\x1b\u202e", "combining": "e\u0301\u0301",
    "error": "error: ", "requested": "requested function '", "user": "user has ", "rejected": "rejected by the ",
    "brackets": "[", "objects": '{"a":', "words": "a_1.b-", "percent": "%%{", "backslashes": "\\", "tildes": "~",
}  # fmt: skip
FUNCTIONS = {
    "classify": results.classify,
    "is_decision": decisions.is_decision,
    "decide": decisions.decide,
    "undone": words.undone,
    "waiting": words.waiting,
    "content_key": words.content_key,
    "plain": plain.plain,
    "lines": plain.lines,
    "code": escape.code,
    "prose": escape.prose,
    "fenced": escape.fenced,
    "references": escape.references,
    "grid.markdown": grid.markdown,
    "mermaid.escape": mermaid.escape,
    "clean": shown.clean,
    "width": shown.width,
    "shorten": lambda text: shown.shorten(text, 100),
    "wrap": lambda text: shown.wrap(text, 100, 3),
    "escape": shown.escape,
}
N = 20_000
#: processor seconds for 20,000 pieces, about fifty times what is needed; quadratic work takes minutes
MOST = 1.0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_long_texts_cost_no_more_than_their_length(name):
    for kind, piece in PIECES.items():
        for text in (piece * N, "error: " + piece * N + "!", '"' + piece * N + '"'):
            begin = time.process_time()
            FUNCTIONS[name](text)
            spent = time.process_time() - begin
            assert spent < MOST, (kind, text[:20])


def test_answers_inside_each_other_are_not_followed_forever():
    payload: object = True
    for _ in range(900):
        payload = [payload]
    assert decisions.decide(payload) is None
    assert decisions.decide([[True]]) == "approved"


def test_a_text_of_json_in_json_ends():
    import json

    text = "true"
    for _ in range(12):
        text = json.dumps(text)
    assert decisions.decide(text) is None
