"""The recording of one arm: a folder with a HAR file for each step, and its telemetry beside it.

A HAR holds the AG-UI exchanges and those with the model provider in the order in which they began,
as they went over the wire. What has no place in a HAR stands in `log._replay`: executions of tools,
files written, what the watched functions saw, the answers of the scripted model. There are no
times in it: a scripted model answers at once, and a time would differ in every run.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

#: Raised when the content of `log._replay` changes in a way that readers have to know about.
FORMAT = 1


class Recorder:
    """Collects what happens and writes it, a step at a time."""

    def __init__(self, folder: Path, places: dict[str, str], arm: dict[str, Any]) -> None:
        self.folder = folder
        self._places = sorted(places.items(), key=lambda item: -len(item[0]))
        self._arm = arm
        self.clear()

    def clear(self) -> None:
        """Begin a step: nothing has happened in it yet."""
        self._entries: list[dict[str, Any]] = []
        self.executions: list[dict[str, Any]] = []
        self.seen: list[dict[str, Any]] = []

    def begin(self, url: str, body: str) -> dict[str, Any]:
        """Note a request; the entry is completed by `end`."""
        entry: dict[str, Any] = {
            "startedDateTime": "",
            "time": 0,
            "request": {
                "method": "POST", "url": url, "httpVersion": "HTTP/1.1", "cookies": [], "headers": [],
                "queryString": [], "postData": {"mimeType": "application/json", "text": body},
                "headersSize": -1, "bodySize": len(body.encode()),
            },
            "response": {},
            "cache": {},
            "timings": {"send": 0, "wait": 0, "receive": 0},
        }  # fmt: skip
        self._entries.append(entry)
        return entry

    @staticmethod
    def end(entry: dict[str, Any], status: int, mime: str, text: str) -> None:
        """Note the response to a request."""
        size = len(text.encode())
        entry["response"] = {
            "status": status, "statusText": "", "httpVersion": "HTTP/1.1", "cookies": [], "headers": [],
            "content": {"mimeType": mime, "size": size, "text": text},
            "redirectURL": "", "headersSize": -1, "bodySize": size,
        }  # fmt: skip

    def write(self, stem: str, step: dict[str, Any], telemetry: list[dict[str, Any]]) -> None:
        """Write a step; a file is there whole or not at all."""
        told = {
            "format": FORMAT, "arm": self._arm, **step,
            "executions": self.executions, "seen": self.seen,
        }  # fmt: skip
        log = {
            "version": "1.2",
            "creator": {"name": "agui-workbench replay", "version": str(FORMAT)},
            "entries": self._entries,
            "_replay": told,
        }
        self._put(f"{stem}.har", json.dumps({"log": log}, ensure_ascii=False, indent=1))
        if telemetry:
            lines = [json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in telemetry]
            self._put(f"{stem}.telemetry.jsonl", "\n".join(lines) + "\n")
        self.clear()

    def _put(self, name: str, text: str) -> None:
        for place, word in self._places:
            # also as it stands inside of JSON texts
            text = text.replace(json.dumps(place)[1:-1], word)
        path = self.folder / name
        unfinished = path.with_name(f".{name}.part")
        unfinished.write_text(text, encoding="utf-8", newline="\n")
        unfinished.replace(path)
