"""What is a secret, and what must survive that one is struck out."""

from __future__ import annotations

import json

import pytest

from workbench.record.secrets import MARK, Secrets, bare_text, bare_url


@pytest.mark.parametrize(
    ("url", "bare"),
    [
        ("http://h:1/a?x=1&api_key=k", "http://h:1/a?x=&api_key="),
        ("https://user:pass@h/a#token=t", "https://h/a"),
        ("http://h/a?lonelysecret", "http://h/a"),
        ("http://h/a?", "http://h/a"),
        ("http://h/a?a%20b=c", "http://h/a?a%20b="),
        ("http://h/a", "http://h/a"),
        ("http://[bad?k=v", "http://[bad"),
    ],
)
def test_bare_url(url, bare):
    assert bare_url(url) == bare


def test_addresses_inside_of_a_text():
    text = "Client error '401' for url 'https://h/v1?key=abc123' see http://docs/x"
    assert bare_text(text) == "Client error '401' for url 'https://h/v1?key=' see http://docs/x"
    assert bare_text("/agent?token=abc") == "/agent?token="
    assert bare_text("no address, 3/4?") == "no address, 3/4?"


@pytest.mark.parametrize(
    "value", ['a "quoted" one', "back\\slash-1", "ünï-cödé", "tab\tinside", "per%cent+plus", "emoji-🗝-key"]
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_secret_is_struck_in_every_form_of_json(value, ascii_only):
    secrets = Secrets()
    secrets.remember(value)
    inner = json.dumps({"v": value}, ensure_ascii=ascii_only)
    for text in (inner, json.dumps({"text": inner}, ensure_ascii=ascii_only)):
        struck = secrets.strike(text.encode())
        assert MARK in struck
        json.loads(struck)
        assert value.encode() not in struck
        assert value not in str(json.loads(struck))


@pytest.mark.parametrize(
    "value", ["messages", "threadId", "RUN_STARTED", "},{[]", "null,true", "connId", "abc"]
)
def test_what_a_recording_consists_of_is_never_struck(value):
    secrets = Secrets()
    secrets.remember(value)
    line = b'{"kind":"event","connId":"c1","event":{"type":"RUN_STARTED","threadId":"t"},"messages":[{},{}]}'
    assert secrets.strike(line) == line


def test_digits_stay_digits_because_json_has_numbers():
    secrets = Secrets()
    secrets.remember("12345678")
    struck = secrets.strike(b'{"a":12345678,"b":"12345678","timestamp":1234567890123,"c":0.12345678}')
    assert json.loads(struck) == {"a": 99999999, "b": "99999999", "timestamp": 1234567890123, "c": 0.12345678}


def test_ids_and_words_in_headers_are_no_secrets():
    secrets = Secrets()
    secrets.learn(
        [
            ("x-session-id", "thread-4711-aa"),
            ("idempotency-key", "run-4711-bbbb"),
            ("cookie", "theme=system-dark"),
        ],
        "http://h/a?threadId=thread-4711-aa",
    )
    line = b'{"threadId":"thread-4711-aa","runId":"run-4711-bbbb","theme":"system-dark"}'
    assert secrets.strike(line) == line


def test_the_longer_of_two_secrets_goes_whole():
    secrets = Secrets()
    secrets.learn([("authorization", "Bearer abcdef"), ("x-token", "abcdef-rest-of-it")])
    assert b"rest" not in secrets.strike(b'"abcdef-rest-of-it"')


def test_only_so_many_are_remembered():
    secrets = Secrets()
    for number in range(3000):
        secrets.remember(f"token-number-{number}-")
    assert secrets.strike(b"token-number-2999-") == MARK
    assert len(secrets._known) <= 500
