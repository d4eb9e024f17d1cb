"""Keeping secrets out of a recording.

Two things are done. Headers are never written, and of a query string only the names. And what was seen
as a secret there is remembered, so that it is struck out wherever it turns up again: a refusal that quotes
the key it refuses, a span that carries the address that was called.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from workbench.readers import protocol

MARK = b"[removed]"

#: Headers and parameters whose value is a secret, by a part of their name. A session or an idempotency
#: key is none: clients put thread and run ids there, which have to stay.
_SECRET_NAME = re.compile(
    r"auth|cookie|(?<!idempotency-)(?<!idempotency_)key|token|secret|passw|pwd|credential|signature|jwt"
    r"|assertion|csrf|xsrf|client-principal|\A(sig|code|pass)\Z",
    re.IGNORECASE,
)
#: the same in telemetry, where a name may hold `key` or `session` and the value is wanted
_SECRET_ATTRIBUTE = re.compile(
    r"\A(http\.(request|response)\.header\.|rpc\.(request|response)\.metadata\.|url\.query\Z)"
    r"|authorization|cookie|api[-_.]?key|apikey|password|passwd|client[-_.]?secret|access[-_.]?token",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s\"'<>\\]+", re.IGNORECASE)
#: `http.target` and the like: a path with a query
_TARGET = re.compile(r"\A/[^\s?#]*\?\S+\Z")
#: Shorter values would strike out words that merely look like them
_LEAST = 6
#: The same for cookies, most of which are no secret (`theme=system`)
_LEAST_COOKIE = 16
#: How many values are remembered; a server that is called with ever new tokens forgets the oldest
_MOST = 500
#: What a recording itself consists of must stay, even where somebody's password is `messages`
_WORDS = (
    " ".join(f"{kind.name} {' '.join(field.name for field in kind.fields)}" for kind in protocol.TYPES)
    + " header request response event keepalive damaged recording schemaVersion capturedAt redacted connId"
    " resume messages assistant developer reasoning activity function arguments toolCalls content system"
    " forwardedProps context resourceSpans scopeSpans resourceLogs scopeLogs logRecords attributes"
    " stringValue intValue boolValue traceId spanId exchange chunk complete status method versions"
    " execution model-call model-update model-end"
)
_STRUCTURE = re.compile(r"(?:[\[\]{},:.+-]|\d|[eE]|true|false|null)+")
_DIGITS = re.compile(r"\d+")


def is_secret(name: str) -> bool:
    """Whether a header or parameter of this name holds a secret."""
    return bool(_SECRET_NAME.search(name))


def is_secret_attribute(name: str) -> bool:
    """Whether an attribute of a span or log record holds a secret."""
    return bool(_SECRET_ATTRIBUTE.search(name))


def bare_url(url: str) -> str:
    """An address without user, password and fragment, and with the names of its parameters alone."""
    try:
        parts = urlsplit(url)
        pairs = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        return url.partition("?")[0].partition("#")[0].rpartition("@")[2]
    host = parts.netloc.rpartition("@")[2]
    made = f"{parts.scheme}://{host}{parts.path}" if parts.scheme else f"{host}{parts.path}"
    if parts.query and not pairs:
        return made
    # a parameter without a value may be the secret itself
    names = [quote(name, safe="") if value else "" for name, value in pairs]
    return made + (f"?{'&'.join(f'{name}=' for name in names if name)}" if any(names) else "")


def bare_text(text: str) -> str:
    """A text with every address in it bare (`bare_url`)."""
    if "://" in text:
        text = _ADDRESS.sub(lambda found: bare_url(found[0]), text)
    elif _TARGET.match(text):
        text = bare_url(text)
    return text


class Secrets:
    """The secrets seen so far, and their removal from what is about to be written."""

    def __init__(self) -> None:
        self._known: dict[bytes, None] = {}
        self._pattern: re.Pattern[bytes] | None = None

    def learn(self, headers: Iterable[tuple[str, str]] = (), url: str = "") -> None:
        """Remember the secrets of a message: its headers by name, the query and the user of its address."""
        found: list[str] = []
        for name, value in headers:
            if is_secret(name):
                found += _of_header(name.lower(), value)
        if "?" in url or "@" in url:
            try:
                parts = urlsplit(url)
                found += [v for n, v in parse_qsl(parts.query, keep_blank_values=True) if is_secret(n)]
                # as it stood there, too: `+` and `%2B` are written in several ways
                for pair in parts.query.split("&"):
                    name, _, value = pair.partition("=")
                    if is_secret(unquote(name)):
                        found += [value, unquote(value)]
                if parts.password:
                    password = unquote(parts.password)
                    basic = base64.b64encode(f"{unquote(parts.username or '')}:{password}".encode())
                    found += [password, basic.decode()]
            except ValueError:
                pass
        for value in found:
            self.remember(value)

    def remember(self, value: str) -> None:
        """Strike out a value from now on, in every form in which JSON or an address may hold it."""
        if len(value) < _LEAST:
            return
        if value in _WORDS or (_STRUCTURE.fullmatch(value) and not _DIGITS.fullmatch(value)):
            return
        # as JSON has it, and as JSON inside of JSON does: arguments of calls, answers of providers
        texts = [value]
        for _ in range(2):
            texts += [json.dumps(text, ensure_ascii=plain)[1:-1] for text in texts for plain in (True, False)]
        forms = {text.encode("utf-8", "replace") for text in texts[1:]} | {quote(value, safe="").encode()}
        new = forms - self._known.keys()
        if not new:
            return
        self._known |= dict.fromkeys(new)
        while len(self._known) > _MOST:
            del self._known[next(iter(self._known))]
        self._pattern = None

    def strike(self, data: bytes) -> bytes:
        """The data without any secret that is known."""
        if not self._known:
            return data
        if self._pattern is None:
            # made anew only where something is written: a client may change its tokens all the time
            self._pattern = self._compiled()
        return self._pattern.sub(_struck, data)

    def _compiled(self) -> re.Pattern[bytes]:
        # the longest first, so that what is left of a longer one does not stay behind
        ordered = sorted(self._known, key=len, reverse=True)
        return re.compile(
            b"|".join(
                rb"(?<![\d.])%b(?![\d.])" % form if form.isdigit() else re.escape(form) for form in ordered
            )
        )


def _struck(found: re.Match[bytes]) -> bytes:
    # digits may stand where JSON has a number
    return b"9" * len(found[0]) if found[0].isdigit() else MARK


def _of_header(name: str, value: str) -> list[str]:
    """What is secret in the value of a header."""
    value = value.strip()
    found = [value]
    if "cookie" in name:
        pieces = value.split(";")
        if name == "set-cookie":
            pieces = pieces[:1]
        found = [piece.partition("=")[2].strip().strip('"') or piece.strip() for piece in pieces]
        return [text for text in found if len(text) >= _LEAST_COOKIE]
    scheme, _, rest = value.partition(" ")
    if rest:
        found.append(rest.strip())
        if scheme.lower() == "basic":
            try:
                user, _, password = base64.b64decode(rest.strip()).decode().partition(":")
            except (binascii.Error, ValueError):
                pass
            else:
                found += [password, f"{user}:{password}"]
    return found
