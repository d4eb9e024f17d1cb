"""Gemini: a function call of the model has to come back with the signature of the thought before it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..script import Answer, View

PATH = "/v1beta/models/scripted:streamGenerateContent"


def view(body: dict[str, Any]) -> View:
    """What the model is shown."""
    seen = View()
    for content in body["contents"]:
        for part in content["parts"]:
            if "text" in part and content.get("role") == "user":
                seen.users.append(part["text"])
            elif "functionCall" in part:
                seen.calls.append(part["functionCall"].get("id", ""))
            elif "functionResponse" in part:
                told = part["functionResponse"]
                seen.results[told.get("id", "")] = json.dumps(told.get("response"))
    return seen


def refusal(body: dict[str, Any]) -> str | None:
    """Why the service would answer 400; None where it would not."""
    for content in body["contents"]:
        first = next((part for part in content["parts"] if "functionCall" in part), None)
        # of parallel calls only the first one is signed
        if first is not None and not first.get("thoughtSignature"):
            return "Function call is missing a thought_signature in functionCall parts."
    return None


def error(reason: str) -> dict[str, Any]:
    """The body of a refusal."""
    return {"error": {"code": 400, "message": reason, "status": "INVALID_ARGUMENT"}}


def stream(answer: Answer, number: int) -> Iterator[str]:
    """The one chunk of an answer; its first call is signed."""
    parts: list[dict[str, Any]] = [{"text": answer.text}] if answer.text else []
    for index, call in enumerate(answer.calls):
        told = {"id": call.id, "name": call.name, "args": json.loads(call.arguments)}
        parts.append({"functionCall": told, **({} if index else {"thoughtSignature": "c2lnbmVk"})})
    content = {"role": "model", "parts": parts}
    chunk = {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "modelVersion": "scripted",
        "responseId": f"gemini-{number}",
    }
    yield f"data: {json.dumps(chunk, ensure_ascii=False)}\r\n\r\n"
