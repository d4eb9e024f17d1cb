"""Listings of a message list, as people print them from a probe: index, role, kind, and what is known of it.

    [0/user] text
    [1/tool] function_result call_id=call_1
    [1/tool] function_approval_response id=call_1 server_label=None HOSTED=False
    [2/assistant] function_call call_id=call_2 name=water_bed

Kinds are those of agent-framework, of Responses items, or of Anthropic's blocks; ids may be shortened with dots.
The list is one that was on its way to a model, so that it is judged as a history that is sent.
"""

from __future__ import annotations

import re
from typing import Any

from workbench.readers.json_events import too_large
from workbench.readers.lines import lines
from workbench.readers.payloads import agent_framework
from workbench.readers.payloads.client_log import lengthened
from workbench.readers.payloads.find import Found
from workbench.readers.payloads.formats import add
from workbench.readers.payloads.history import Turn
from workbench.readers.reading import Reading
from workbench.readers.registry import Format

_ROLES = "user|assistant|tool|system|developer"
_LINE = re.compile(rf"^(?P<before>[^\[\n]{{0,200}}(?:\[[^\]\n]{{0,80}}\][^\[\n]{{0,80}}){{0,3}}?)"
                   rf"\[(?P<n>\d{{1,5}})\s*[/:|]\s*(?P<role>{_ROLES})\]\s+(?P<kind>[A-Za-z_]{{3,40}})(?P<rest>.*)$")  # fmt: skip
_FACT = re.compile(
    r"""([A-Za-z_]{2,30})\s*=\s*('(?:[^'\\]|\\.){0,4000}'|"(?:[^"\\]|\\.){0,4000}"|[^\s,;)]{1,4000})"""
)
_SNIFF = re.compile(
    rf"(?:\A|[\r\n])[^\r\n]{{0,200}}?\[\d{{1,5}}\s*[/:|]\s*(?:{_ROLES})\] +[a-z_]{{3,40}}".encode()
)
#: kinds of other dialects by agent-framework's names
_KINDS = {
    "input_text": "text", "output_text": "text", "message": "text", "tool_use": "function_call", "tool_call": "function_call",
    "tool_result": "function_result", "function_call_output": "function_result", "reasoning": "text_reasoning",
    "thinking": "text_reasoning", "mcp_approval_request": "function_approval_request",
    "mcp_approval_response": "function_approval_response",
}  # fmt: skip
_KNOWN = frozenset({"text", "text_reasoning", "function_call", "function_result", "function_approval_request",
                    "function_approval_response", "data", "uri", "error", "usage", "hosted_file"})  # fmt: skip
_WORDS = {"none": None, "null": None, "true": True, "false": False, "yes": True, "no": False}


def read(reading: Reading) -> None:
    """Read each listing; one begins where an index is smaller than the one before."""
    if too_large(reading):
        return
    messages: list[dict[str, Any]] = []
    last = first_line = first_offset = end = -1
    number = reading.content.first_line - 1
    for offset, line in lines(reading.content, reading.limits):
        number += 1
        text = (line or b"").decode("utf-8", "replace")
        found = _LINE.match(text)
        kind = _KINDS.get(found["kind"].lower(), found["kind"].lower()) if found else ""
        if found is None or kind not in _KNOWN:
            if found is not None:
                reading.problem(
                    f"a content of an unknown kind: {kind[:40]}", line=number, offset=offset, data=line or b""
                )
            elif text.strip():
                reading.ignore("other lines")
            continue
        index = int(found["n"])
        if index < last and messages:
            _add(reading, messages, first_line, first_offset, end)
            messages, last = [], -1
        if not messages:
            first_line, first_offset = number, offset
        if index != last:
            messages.append({"role": found["role"], "contents": [], "index": index})
        last = index
        messages[-1]["contents"].append(_content(kind, found["kind"], found["rest"]))
        end = offset + len(line or b"")
    if messages:
        _add(reading, messages, first_line, first_offset, end)


def _content(kind: str, written: str, rest: str) -> dict[str, Any]:
    facts: dict[str, Any] = {key.lower(): _fact(value) for key, value in _FACT.findall(rest)}
    made: dict[str, Any] = {"type": kind}
    label = facts.get("server_label")
    if facts.get("hosted") is True and not label:
        label = "not told"
    extra = {"additional_properties": {"server_label": label}} if label else {}
    own = facts.get("id") or facts.get("approval_request_id")
    call_id = facts.get("call_id") or facts.get("tool_call_id") or facts.get("tool_use_id")
    named = facts.get("name") or facts.get("tool") or facts.get("function")
    if kind in ("function_call", "function_result"):
        made |= {"call_id": call_id or own or "", **extra}
        if kind == "function_call":
            made |= _told(name=named, arguments=facts.get("arguments", facts.get("args")))
        else:
            made["result"] = facts.get("result", facts.get("output"))
    elif kind.startswith("function_approval"):
        approved = facts.get("approved", facts.get("approve"))
        made |= {"id": own or call_id or "", **extra}
        if approved in (True, False):
            made["approved"] = approved
        if not written.lower().startswith("mcp_"):
            call = {
                "type": "function_call",
                "call_id": call_id or own or "",
                "name": named or "",
                "arguments": None,
            }
            made["function_call"] = call | extra
    elif "text" in facts:
        made["text"] = str(facts["text"])
    return made


def _told(**facts: Any) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if value is not None}


def _fact(value: str) -> Any:
    if value[:1] in "'\"":
        return value[1:-1]
    return _WORDS.get(value.lower(), value)


def _add(reading: Reading, messages: list[dict[str, Any]], line: int, offset: int, end: int) -> None:
    full = {
        str(c["call_id"])
        for m in messages for c in m["contents"] if c.get("call_id") and not str(c["call_id"]).endswith(("…", "..."))
    }  # fmt: skip
    for content in (c for m in messages for c in m["contents"]):
        for holder in (content, content.get("function_call") or {}):
            for key in ("id", "call_id"):
                if isinstance(holder.get(key), str):
                    holder[key] = lengthened(holder[key], full)
    history = agent_framework.history(messages)
    for turn, message in zip(history.turns, messages, strict=True):
        _at(turn, message.pop("index"))
    history.sent = True
    # a listing names contents, it does not hold them
    history.whole = False
    found = Found("history", history, {"messages": messages})
    add(reading, found, line=line, offset=offset, length=end - offset)


def _at(turn: Turn, index: int) -> None:
    """The places that the listing itself gives: it may leave messages out."""
    old, new = turn.path, f"messages[{index}]"
    turn.path = new
    for block in turn.blocks:
        block.path = new + block.path[len(old) :]


FORMAT = Format(
    name="message-listing",
    title="Listing of a message list, from a probe",
    recognised_by="lines with `[0/user] text`, `[1/tool] function_result call_id=…`",
    extensions=(".log", ".txt"),
    recognise=lambda sniff: (
        len(_SNIFF.findall(sniff.head)) >= 2
        and not sniff.has_data_lines
        and not sniff.has_types
        and sniff.first != b"{"
    ),
    read=read,
)
