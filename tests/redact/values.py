"""The string values of any capture, found without the readers and without the redactor.

Everything that decodes as JSON is walked: documents, lines, `data:` lines, base64 bodies, texts that hold JSON.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

DELTAS = re.compile(r"(TEXT_MESSAGE|TOOL_CALL|REASONING|THINKING).*(CONTENT|ARGS|CHUNK)")


class Values:
    """`texts` are string values, `keys` names of fields; `named` is (key, value) for what a key explains."""

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.named: set[tuple[str, str]] = set()
        self.deltas: dict[tuple[str, str], str] = defaultdict(str)

    def all(self) -> set[tuple[str, str]]:
        for text in list(self.deltas.values()):
            self.text(text, "delta")
        return self.named

    def file(self, data: bytes) -> None:
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        if data[:4] == b"PK\3\4":
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                for name in archive.namelist():
                    self.file(archive.read(name))
            return
        self.document(data.decode("utf-16" if data[:2] == b"\xff\xfe" else "utf-8-sig", "replace"))

    def document(self, text: str) -> None:
        if self._json(text):
            return
        for line in re.split(r"[\r\n]+", text):
            if not self._json(line):
                found = re.search(r"(?:data: ?|: )?(\{.*)", line)
                if found:
                    self._json(found[1])
        frames = re.sub(r"(?m)^data: ?", "", text)
        for frame in re.split(r"\n\n|\r\n\r\n", frames):
            self._json(frame)

    def _json(self, text: str) -> bool:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return False
        if not isinstance(value, dict | list):
            return False
        self.value(value, "")
        return True

    def value(self, value: Any, key: str) -> None:
        if isinstance(value, dict):
            kind = str(value.get("type"))
            if isinstance(value.get("delta"), str) and DELTAS.match(kind):
                name = (
                    kind.split("_", maxsplit=1)[0],
                    str(value.get("messageId") or value.get("toolCallId")),
                )
                self.deltas[name] += value["delta"]
            if value.get("encoding") == "base64" and isinstance(value.get("text"), str):
                self.document(base64.b64decode(value["text"]).decode("utf-8", "replace"))
            for key_of, inner in value.items():
                name = key_of
                self.keys.add(name)
                if name == "value" and isinstance(value.get("key"), str):
                    name = value["key"]
                    self.keys.add(name)
                elif name in ("stringValue", "string_value", "arrayValue", "array_value", "values"):
                    name = key
                elif name == "value" and isinstance(value.get("name"), str):
                    name = value["name"]
                if name == "name" and value.get("type") == "CUSTOM":
                    name = "custom name"
                if name == "name" and set(value) <= {"name", "value", "comment"}:
                    name = "header name"
                if name in ("path", "from") and "op" in value:
                    name = "pointer"
                if name == "text" and value.get("encoding") == "base64":
                    continue
                self.value(inner, name)
        elif isinstance(value, list):
            for inner in value:
                self.value(inner, key)
        elif isinstance(value, str):
            self.text(value, key)

    def text(self, text: str, key: str) -> None:
        if "data:" in text or text.lstrip()[:1] in ("{", "["):
            before = len(self.named)
            self.document(text)
            if len(self.named) > before or self._json(text):
                return
        self.named.add((key, text))


def forms(text: str) -> Iterator[bytes]:
    """The ways in which a text can stand in a file: as it is, in JSON, in JSON in JSON, and in base64."""
    raw = text.encode("utf-8", "replace")
    once = json.dumps(text)[1:-1]
    plain = json.dumps(text, ensure_ascii=False)[1:-1]
    yield from {
        raw,
        once.encode(),
        plain.encode("utf-8", "replace"),
        json.dumps(once)[1:-1].encode(),
        json.dumps(plain, ensure_ascii=False)[1:-1].encode("utf-8", "replace"),
    }
    for shift in range(3):
        coded = base64.b64encode(b"\0" * shift + raw)
        inner = coded[(0, 2, 3)[shift] :].rstrip(b"=")
        yield inner[: len(inner) - (len(raw) + shift) % 3]
