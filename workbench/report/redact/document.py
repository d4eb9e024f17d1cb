"""Goes through one JSON text and decides for every value what it becomes.

A value is told by its key and by where it stands: ids become pseudonyms, words of the protocol stay,
everything else is exchanged. Inside what belongs to the application (arguments, results, state) numbers
are exchanged as well. Texts that are JSON are gone through in the same way; texts that come in deltas are
exchanged as one.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from workbench.report.redact import kept
from workbench.report.redact.detectors import Detectors, secret_key
from workbench.report.redact.exchange import Exchange
from workbench.report.redact.literal import Node, decode, encode, inside, parse

#: below these keys everything is the application's own
_DATA_KEYS = frozenset({
    "arguments", "args", "input", "result", "output", "state", "snapshot", "value", "payload", "forwardedprops",
    "forwarded_props", "context", "content", "rawevent", "data", "parameters", "attributes", "response", "metadata",
    "toolargs", "edited_args", "editedargs", "properties", "description", "body",
})  # fmt: skip
#: keys of times; of those that may be a person's, only what the protocol defines
_TIMES = frozenset({"timestamp", "time", "createdat", "created_at", "created", "startedat", "endedat", "starttime",
                    "endtime", "start_time", "end_time", "starteddatetime", "capturedat", "receivedat", "ts", "_timestamp",
                    "started_at", "ended_at", "updated_at", "updatedat"})  # fmt: skip
_EXPIRY = frozenset({"expiresat", "expires_at", "expires"})
_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,12})?)?(Z|[+-]\d\d:?\d\d)?")
_TOOL_KEYS = frozenset({"name", "toolname", "tool_name", "toolcallname", "tool_call_name", "tool", "action",
                        "gen_ai.tool.name", "ai.toolcall.name", "tool.name", "function_name", "functionname",
                        "tool_call.function.name", "traceloop.entity.name", "actionname", "action_name"})  # fmt: skip
_SEVERITY = re.compile(r"SEVERITY_NUMBER_[A-Z]{4,11}[2-4]?|\d{1,2}")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.:/-]{0,80}")
_CODE = re.compile(r"[A-Z][A-Z0-9_]{1,80}")
_VERSION = re.compile(r"v?\d{1,4}(\.\d{1,6}){0,3}[\w.+-]{0,20}")
_ID_KEY = re.compile(r"(?:^|_|\.|-|[a-z0-9])(?:id|ids|ID|Id|Ids|IDs)$|^step_?[nN]ame$")
#: ids that OpenTelemetry writes in hex, and protobuf's JSON in base64
_HEX_IDS = frozenset({"traceid", "trace_id", "spanid", "span_id", "parentspanid", "parent_span_id"})
_SPANNISH = frozenset({"traceid", "trace_id", "spanid", "span_id", "starttimeunixnano", "durationms"})
_DELTAS = {
    "TEXT_MESSAGE_CONTENT": "message", "TEXT_MESSAGE_CHUNK": "message", "REASONING_MESSAGE_CONTENT": "message",
    "REASONING_MESSAGE_CHUNK": "message", "THINKING_TEXT_MESSAGE_CONTENT": "thinking", "TOOL_CALL_ARGS": "call",
    "TOOL_CALL_CHUNK": "call", "THINKING_CONTENT": "thinking",
}  # fmt: skip
_BEGINS = {"TEXT_MESSAGE_START": "message", "REASONING_MESSAGE_START": "message", "TOOL_CALL_START": "call",
           "THINKING_TEXT_MESSAGE_START": "thinking"}  # fmt: skip
_HEADERS_KEPT = frozenset({"content-type", "content-encoding", "accept", "accept-encoding", "cache-control", "connection",
                           "transfer-encoding", "content-length", "vary", "x-accel-buffering", "keep-alive"})  # fmt: skip
_URL_WORDS = frozenset({"http", "https", "ws", "wss", "api", "v1", "v1beta", "v2", "chat", "completions", "responses", "messages",
                        "embeddings", "generate", "generatecontent", "streamgeneratecontent", "model", "models", "invoke",
                        "converse", "agent", "agents", "run", "runs", "connect", "stop", "awp", "copilotkit", "sse",
                        "stream", "threads", "localhost", "com", "openai", "anthropic", "azure", "googleapis",
                        "amazonaws", "mistral", "ollama", "deepseek", "ai"})  # fmt: skip
#: what rules of providers are told by in the name of a model; a name of one's own is exchanged around them
_MODEL_WORDS = frozenset({"gemini", "gpt", "claude", "mistral", "deepseek", "llama", "qwen", "pro", "flash", "mini", "nano", "large",
                          "small", "medium", "latest", "sonnet", "opus", "haiku", "o1", "o3", "o4", "4o", "preview", "openai",
                          "anthropic", "google", "models", "us", "eu"} | {str(n) for n in range(100)})  # fmt: skip
_MODEL_KEYS = ("model", "modelid", "model_id", "gen_ai.request.model", "gen_ai.response.model")


class Hole:
    """A string whose new text is known later: a delta, or a text with deltas inside."""

    __slots__ = ("inner", "new", "old", "raw")

    def __init__(self, raw: str, old: str, inner: list[str | Hole] | None = None) -> None:
        self.raw = raw
        self.old = old
        self.new = old
        self.inner = inner

    def render(self) -> str:
        """The inside of the literal, as it is written now."""
        return encode(self.raw, self.new if self.inner is None else join(self.inner))


def join(parts: Iterable[str | Hole]) -> str:
    """The text that the parts make; to be asked for when all deltas are known."""
    return "".join(part if isinstance(part, str) else part.render() for part in parts)


@dataclass(slots=True)
class Facts:
    """What is known of the captures before the first of them is gone through."""

    tools: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()


@dataclass(slots=True)
class Report:
    """What was exchanged, by kind; `keys` are names of fields in which a secret stood."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, kind: str, number: int = 1) -> None:
        """Count."""
        self.counts[kind] = self.counts.get(kind, 0) + number


class _At(NamedTuple):
    node: Node
    key: str
    data: bool
    owner: dict[str, str]
    above: str


class Redactor:
    """One redaction: all captures that go through one object are exchanged in the same way.

    `everything` is the redaction of captures; without it only what the detectors find is exchanged,
    which is what reports do. `rename_tools` exchanges the names of tools too.
    """

    def __init__(
        self,
        key: bytes,
        facts: Facts,
        *,
        everything: bool = True,
        rename_tools: bool = False,
        patterns: Iterable[str] = (),
    ) -> None:
        self.exchange = Exchange(key)
        self.detectors = Detectors(patterns)
        self.facts = facts
        self.everything = everything
        self.rename_tools = rename_tools
        self.report = Report()
        self._tools = facts.tools | kept.TOOLS
        self._ids = frozenset(i for i in facts.ids if len(i) >= 6 and any(c.isdigit() for c in i))
        #: what is still to be joined: deltas by kind and id
        self._open: dict[tuple[str, str], list[Hole]] = {}
        self._pending: list[tuple[str, list[Hole]]] = []
        self._mapped: dict[str, str] = {}

    # ------------------------------------------------------------------ what a value becomes

    def scrub(self, text: str) -> str:
        """The text without what the detectors find in it; of equal length."""
        for start, end in self.detectors.find(text):
            text = text[:start] + self._secret(text[start:end]) + text[end:]
            self.report.add("secrets")
        return text

    def _secret(self, text: str) -> str:
        return self.exchange.text(text)

    def text(self, value: str) -> str:
        """A text that a person, model or tool wrote."""
        if not self.everything:
            return self.scrub(value)
        self.report.add("texts")
        return self.exchange.text(value, kept.stays)

    def id(self, value: str) -> str:
        """An id."""
        if not self.everything:
            return self.scrub(value)
        if value in ("null", "none", "None", "undefined"):
            return value  # the fault of a client that had no id
        if value in self._tools:
            # Gemini and Ollama use the name of the tool as the id of its call
            return self.tool(value)
        self.report.add("ids")
        made = self._mapped[value] = self.exchange.pseudonym(value, kept.ID_WORDS)
        return made

    def mapped(self, value: str) -> str:
        """What an id of a finding is called in the redacted captures."""
        return self._mapped.get(value, value)

    def tool(self, name: str) -> str:
        """The name of a tool."""
        if self.rename_tools and self.everything and name not in kept.TOOLS:
            return self.exchange.pseudonym(name)
        return self.scrub(name)

    def name(self, key: str) -> str:
        """The key of an object: it stays, unless it is an id or a secret itself."""
        return self.id(key) if self.everything and key in self._ids else self.scrub(key)

    def pointer(self, path: str) -> str:
        """A JSON pointer, whose pieces are keys."""
        pieces = path.split("/")
        return "/".join(
            self.name(piece.replace("~1", "/").replace("~0", "~")).replace("~", "~0").replace("/", "~1")
            if "~" in piece
            else self.name(piece)
            for piece in pieces
        )

    def url(self, value: str) -> str:
        """An address: its shape and the words of known endpoints stay."""
        words = _URL_WORDS | _MODEL_WORDS if "/models/" in value or "/model/" in value else _URL_WORDS
        return self.exchange.pseudonym(value, words) if self.everything else self.scrub(value)

    # ------------------------------------------------------------------ documents

    def json(self, text: str, *, data: bool = False, key: str = "") -> list[str | Hole]:
        """A JSON text, or one that nearly is; what stands between values is kept as it is."""
        parts: list[str | Hole] = []
        done = 0
        todo = [_At(node, key, data, {}, "") for node in reversed(parse(text))]
        while todo:
            at = todo.pop()
            node = at.node
            if node.kind in "{[":
                todo.extend(reversed(list(self._within(text, at))))
                continue
            new: str | Hole
            if node.kind == '"':
                start, end = inside(text, node)
                new = self._string(text[start:end], at)
            else:
                start, end = node.start, node.end
                new = self._bare(text[start:end], at)
            parts += (text[done:start], new)
            done = end
        parts.append(text[done:])
        return parts

    def _within(self, text: str, at: _At) -> Iterator[_At]:
        """The values inside an object or array, keys among them, in order."""
        node = at.node
        if node.kind == "[":
            for _, value in node.items:
                if value is not None:
                    yield _At(value, at.key, at.data, at.owner if value.kind == '"' else {}, at.above)
            return
        owner: dict[str, str] = {}
        for key, value in node.items:
            if key is not None and value is not None and value.kind == '"' and value.end - value.start < 400:
                start, end = inside(text, value)
                owner.setdefault(decode(text[key.start + 1 : key.end - 1]).lower(), decode(text[start:end]))
        owner["…"] = " ".join(decode(text[k.start + 1 : k.end - 1]).lower() for k, _ in node.items[:12] if k)
        kind = owner.get("type", "")
        if kind in _BEGINS:
            self._open.pop((_BEGINS[kind], _id_of(owner, _BEGINS[kind])), None)
        for key, value in node.items:
            name = at.key
            if key is not None:
                yield _At(key, "", at.data, _KEY, at.key)
                name = decode(text[key.start + 1 : key.end - 1])
            if value is None:
                continue
            # {"key": "gen_ai.tool.name", "value": {"stringValue": …}}: OpenTelemetry's pairs
            lower = name.lower()
            if lower == "key" and len(node.items) <= 3 and "value" in owner["…"].split():
                yield _At(value, "", at.data, _KEY, at.key)
                continue
            if lower == "value" and "key" in owner and len(node.items) <= 3:
                name, lower = owner["key"], owner["key"].lower()
            elif lower in (
                "stringvalue",
                "intvalue",
                "doublevalue",
                "boolvalue",
                "arrayvalue",
                "kvlistvalue",
                "values",
                "string_value",
                "int_value",
            ):
                name, lower = at.key, at.key.lower()
            data = at.data or (
                lower in _DATA_KEYS and not (value.kind == "{" and lower == "data" and "log" in owner)
            )
            if (
                kind == "MESSAGES_SNAPSHOT"
                or (lower in ("content", "response") and value.kind in "{[" and not at.data)
                or lower in ("messages", "log")
            ):
                # lists of messages and parts, and answers of HTTP, are the protocol's
                data = at.data
            if lower == "input" and value.kind == "{" and ("threadid" in owner["…"] or "kind" in owner):
                data = False
            if lower == "data" and value.kind == "{":
                data = at.data
            yield _At(value, name, data, owner, at.key)

    def _bare(self, raw: str, at: _At) -> str:
        """A number, true, false, null, or text without quotes."""
        if not self.everything:
            return self.scrub(raw) if at.node.kind == "w" else raw
        if at.node.kind == "w":
            return (
                raw
                if raw in ("true", "false", "null", "NaN", "Infinity", "None", "True", "False")
                else self.text(raw)
            )
        lower = at.key.lower()
        if not at.data or lower in _EXPIRY or lower in ("timestamp", "logid", "log_id"):
            return raw
        self.report.add("numbers")
        return self.exchange.number(raw)

    def _string(self, raw: str, at: _At) -> str | Hole:
        old = decode(raw)
        if at.owner is _KEY:
            return encode(raw, self.name(old))
        lower = at.key.lower()
        kind = at.owner.get("type", "")
        if lower == "delta" and kind in _DELTAS:
            hole = Hole(raw, old)
            name = (_DELTAS[kind], _id_of(at.owner, _DELTAS[kind]))
            if name not in self._open:
                self._open[name] = []
                self._pending.append((name[0], self._open[name]))
            self._open[name].append(hole)
            return hole
        document = self._document(old, lower, at)
        if document is not None:
            return Hole(raw, old, document)
        return encode(raw, self._value(old, lower, at))

    @contextmanager
    def apart(self) -> Iterator[None]:
        """A stream of its own: ids in it have nothing to do with those of other streams."""
        outer, self._open = self._open, {}
        try:
            yield
        finally:
            self._open = outer

    def settle(self) -> None:
        """Exchange what came in deltas, now that all of them are known."""
        for kind, holes in self._pending:
            whole = "".join(hole.old for hole in holes)
            new = join(self.json(whole, data=True)) if kind == "call" else self._free(whole, data=True)
            at = 0
            for hole in holes:
                hole.new = new[at : at + len(hole.old)]
                at += len(hole.old)
        self._pending.clear()
        self._open.clear()

    def _document(self, old: str, lower: str, at: _At) -> list[str | Hole] | None:
        """A text that holds a document of the protocol: a body of HTTP, a message of a stream."""
        from workbench.report.redact import lines

        if (
            lower not in ("text", "data", "body", "event", "payload", "input", "postdata", "messages")
            or len(old) < 2
        ):
            return None
        words = at.owner.get("…", "")
        if lower == "text" and not ("mimetype" in words or "params" in words):
            return None
        if at.owner.get("encoding") == "base64":
            return lines.base64(self, old)
        if lines.is_stream(old):
            return lines.stream(self, old)
        if old.lstrip()[:1] in ("{", "[") and (not at.data or is_json(old)):
            return self.json(old, key=lower, data=at.data)
        return None

    def _free(self, old: str, *, data: bool, key: str = "") -> str:
        """A text; one that is JSON is gone through."""
        first = old.lstrip()[:1]
        if first in ("{", "[") and is_json(old):
            return join(self.json(old, data=data, key=key))
        if first == '"' and is_json(old):
            start = old.index('"') + 1
            end = old.rindex('"')
            raw = old[start:end]
            return old[:start] + encode(raw, self._free(decode(raw), data=data, key=key)) + old[end:]
        return self.text(old)

    def _value(self, old: str, lower: str, at: _At) -> str:
        if not old:
            return old
        if not self.everything:
            if (
                secret_key(at.key)
                or (lower == "value" and secret_key(at.owner.get("name", "")))
                or at.above == "cookies"
            ):
                self.report.add("secrets")
                return self._secret(old)
            return (
                self.scrub(old)
                if old.lstrip()[:1] not in ("{", "[") or not is_json(old)
                else join(self.json(old, data=at.data))
            )
        made = self._protocol(old, lower, at)
        if made is not None:
            return made
        if lower in ("arguments", "args") or lower.endswith((".arguments", "_args", ".args")):
            return join(self.json(old, data=True))
        return self._free(old, data=True, key=at.key)

    def _protocol(self, old: str, lower: str, at: _At) -> str | None:
        """What a value becomes that the protocol or a framework defines; None for one that is free."""
        owner = at.owner
        if lower in _EXPIRY or (lower in _TIMES and not at.data) or lower.endswith("unixnano"):
            return old if _ISO.fullmatch(old) or old.strip("-").isdigit() else None
        if at.above == "headers" or (lower == "value" and at.key != "value"):
            if lower == "name":
                return self.scrub(old)
            if lower == "value":
                return old if owner.get("name", "").lower() in _HEADERS_KEPT else self.exchange.text(old)
        if lower in _TOOL_KEYS and old in self._tools:
            return self.tool(old)
        if lower in _MODEL_KEYS:
            return self.exchange.pseudonym(old, _MODEL_WORDS)
        if lower in _HEX_IDS and (plain := _from_base64(old)):
            return base64.b64encode(bytes.fromhex(self.id(plain))).decode()
        if old in self._ids or _ID_KEY.search(at.key):
            return self.id(old)
        if lower in ("path", "from") and "op" in owner:
            return self.pointer(old)
        if lower in ("url", "referer", "location") or lower.endswith(("url", ".address")):
            return self.url(old)
        if lower in kept.WORD_KEYS and old.lower() in kept.WORDS:
            return old
        if lower == "reason" and (match := kept.REASON_OWNER.match(old)):
            return match[0] + (
                "interrupt"
                if old == match[0] + "interrupt"
                else self.exchange.pseudonym(old[match.end() :], frozenset({"human", "feedback"}))
            )
        if _ISO.fullmatch(old) and lower in _TIMES:
            return None
        if at.data:
            if lower == "event" and re.fullmatch(r"on_chain_\w{1,20}", old):
                return old
            return self._named(old, lower, at)
        if lower == "type" and _PLAIN.fullmatch(old):
            return self.scrub(old)
        if lower in ("event", "op", "role") and _PLAIN.fullmatch(old):
            return self.scrub(old)
        if lower == "code" and _CODE.fullmatch(old):
            return self.scrub(old)
        if lower == "name" and owner.get("type") == "CUSTOM":
            return self.scrub(old)
        if lower in ("version", "httpversion", "protocolversion", "schemaversion") and _VERSION.fullmatch(
            old
        ):
            return old
        if lower in ("severitynumber", "severity_number") and _SEVERITY.fullmatch(old):
            return old
        if lower == "intvalue" or (lower.endswith("value") and old.isdigit() and "intvalue" in owner):
            return old
        return self._named(old, lower, at)

    def _named(self, old: str, lower: str, at: _At) -> str | None:
        """Names of spans, operations, libraries and errors in telemetry."""
        words = at.owner.get("…", "")
        if lower in (
            "name",
            "scope",
            "logger",
            "source",
            "category",
            "telemetry.sdk.name",
            "otel.scope.name",
            "otel.library.name",
            "event.name",
            "displayname",
        ):
            if kept.LIBRARIES.match(old) and _PLAIN.fullmatch(old):
                return self.scrub(old)
            if _SPANNISH & set(words.split()):
                return self._operation(old)
        if lower in ("gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind", "gen_ai.system", "gen_ai.provider.name",
                     "gen_ai.tool.type", "ai.operationid", "mcp.method.name", "langfuse.observation.type", "mlflow.spantype",
                     "tool.state", "tool.status", "gen_ai.tool.status", "langgraph.status", "gen_ai.output.type", "event.name", "eventname", "event_name"):  # fmt: skip
            return old if old.lower() in kept.WORDS or _PLAIN.fullmatch(old) else None
        if lower in ("error.type", "exception.type") and kept.ERROR_NAME.fullmatch(old):
            return old
        return None

    def _operation(self, old: str) -> str:
        """The name of a span: its operation and tool stay."""
        return "".join(
            piece
            if not piece.strip()
            or piece.lower().rstrip(":") in kept.WORDS
            or piece in ("running", "tool", "tool:", "tools/call")
            else self.tool(piece)
            if piece in self._tools
            else self.exchange.text(piece)
            for piece in re.split(r"(\s+)", old)
        )


def _from_base64(text: str) -> str:
    """An id of a trace or span that is written in base64, in hex; "" for one that is not."""
    if len(text) not in (12, 24):
        return ""
    try:
        return base64.b64decode(text, validate=True).hex()
    except ValueError:
        return ""


#: the owner of a key
_KEY: dict[str, str] = {"…": ""}


def _id_of(owner: dict[str, str], kind: str) -> str:
    """The id of the message or call that an event belongs to."""
    names = ("toolcallid", "tool_call_id") if kind == "call" else ("messageid", "message_id")
    return next((owner[name] for name in names if name in owner), "")


def is_json(text: str) -> bool:
    """Whether the text is one JSON value."""
    import msgspec

    try:
        msgspec.json.decode(text.encode("utf-8", "replace"), type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
