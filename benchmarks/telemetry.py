"""Load a large OTLP file: `python benchmarks/telemetry.py [FILE] [MEGABYTES]`.

Writes 300 MB of OTLP JSON lines (about 119,000 spans with messages of 1 to 4 KB) unless FILE is there,
then prints the CPU seconds of raw `orjson.loads` over the lines and of `wb.load(FILE).spans`, each in a
process of its own, best of three, and their ratio.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SPANS_PER_LINE = 32
TALE = "the bay is free until nine and the crane moves on to the next ship while the tide is low – Zoë and Søren’s turn"
WORDS = TALE.split()
TOOLS = ("book_bay", "move_crane", "read_tide", "write_log")


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"stringValue": value}


def _text(rng: random.Random, size: int) -> str:
    words: list[str] = []
    while size > 0:
        words.append(rng.choice(WORDS))
        size -= len(words[-1]) + 1
    return " ".join(words)


def _json(value: Any) -> str:
    """As agent-framework writes it: letters of all languages as they are."""
    return json.dumps(value, ensure_ascii=False)


def _asked(rng: random.Random, call: str, tool: str) -> dict[str, Any]:
    arguments = {"bay": rng.randrange(90), "ship": rng.choice(WORDS), "note": _text(rng, 40)}
    return {"type": "tool_call", "id": call, "name": tool, "arguments": _json(arguments)}


def _messages(rng: random.Random, call: str, turns: int) -> str:
    """A conversation as agent-framework writes it: JSON text, which the export escapes once more."""
    messages: list[dict[str, Any]] = []
    for turn in range(turns):
        tool = TOOLS[turn % len(TOOLS)]
        answer = {"ok": True, "bay": rng.randrange(90), "crane": rng.choice(WORDS), "log": _text(rng, 20)}
        told = {"type": "tool_call_response", "id": f"{call}_{turn}", "response": _json(answer)}
        messages += [
            {"role": "user", "parts": [{"type": "text", "content": _text(rng, rng.randrange(20, 110))}]},
            {"role": "assistant", "parts": [_asked(rng, f"{call}_{turn}", tool)]},
            {"role": "tool", "parts": [told]},
        ]
    return _json(messages)


def _definitions() -> str:
    """The tools that an agent can call."""
    schema = {"type": "object", "properties": {"bay": {"type": "integer"}, "note": {"type": "string"}}}
    told = [
        {"type": "function", "name": tool, "description": "Does it.", "parameters": schema} for tool in TOOLS
    ]
    return _json(told)


def _span(rng: random.Random, number: int, trace: str, parent: str, span: str, clock: int) -> dict[str, Any]:
    kind = ("chat", "execute_tool", "chat", "invoke_agent")[number % 4]
    tool = TOOLS[number // 4 % len(TOOLS)]
    call = f"call_{number // 4:07}"
    attributes: dict[str, Any] = {}
    name = f"{kind} stub-model"
    if kind == "execute_tool":
        name = f"execute_tool {tool}"
        attributes |= {
            "gen_ai.operation.name": kind,
            "gen_ai.tool.name": tool,
            "gen_ai.tool.call.id": call,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.description": "Does what its name says.",
            "gen_ai.tool.call.arguments": _json({"bay": rng.randrange(90), "note": _text(rng, 40)}),
            "gen_ai.tool.call.result": _text(rng, rng.randrange(40, 300)),
            "agent_framework.function.invocation.duration": rng.randrange(10**6),
        }
    else:
        said = {
            "role": "assistant",
            "parts": [{"type": "text", "content": _text(rng, 30)}, _asked(rng, call, tool)],
        }
        attributes |= {
            "gen_ai.input.messages": _messages(rng, call, rng.randrange(1, 4)),
            "gen_ai.system_instructions": _json([{"type": "text", "content": _text(rng, 60)}]),
            "gen_ai.request.choice.count": 1,
            "gen_ai.operation.name": kind,
            "server.address": "localhost",
            "gen_ai.request.model": "stub-model",
            "gen_ai.provider.name": "stub",
            "gen_ai.conversation.id": f"thread-{number // 64:05}",
            "gen_ai.response.id": f"resp_{number}",
            "gen_ai.response.model": "stub-model",
            "gen_ai.response.finish_reasons": '["tool_calls"]',
            "gen_ai.usage.input_tokens": rng.randrange(4000),
            "gen_ai.usage.output_tokens": rng.randrange(900),
            "gen_ai.output.messages": _json([said]),
        }
        if kind == "invoke_agent":
            attributes["gen_ai.tool.definitions"] = _definitions()
    return {
        "traceId": trace,
        "spanId": span,
        **({} if kind == "invoke_agent" else {"parentSpanId": parent}),
        "flags": 256,
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(clock),
        "endTimeUnixNano": str(clock + rng.randrange(10**6, 10**9)),
        "attributes": [{"key": key, "value": _value(value)} for key, value in attributes.items()],
        "status": {"code": 2, "message": "no bay"} if number % 97 == 1 else {},
    }


def lines(total: int, seed: int = 11) -> Iterator[bytes]:
    """Export after export until they are `total` bytes; the same bytes every time."""
    rng = random.Random(seed)
    described = {"service.name": "harbour", "service.instance.id": "a1", "telemetry.sdk.language": "python"}
    sender = {"attributes": [{"key": key, "value": _value(value)} for key, value in described.items()]}
    made = number = 0
    clock = 1_796_066_277_000_000_000
    while made < total:
        spans = []
        for _ in range(SPANS_PER_LINE):
            turn = number // 4
            trace, root = f"{turn // 2 + 1:032x}", f"{turn * 4 + 4:016x}"
            spans.append(_span(rng, number, trace, root, f"{number + 1:016x}", clock))
            clock += rng.randrange(10**5, 10**8)
            number += 1
        scope = {"scope": {"name": "agent_framework", "version": "1.23.0"}, "spans": spans}
        export = {"resourceSpans": [{"resource": sender, "scopeSpans": [scope]}]}
        line = json.dumps(export, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        made += len(line)
        yield line


def measure(what: str, path: Path) -> None:
    """Do one of the two and print its CPU seconds, spans and peak memory in MB."""
    if what == "orjson":
        import orjson

        before = resource.getrusage(resource.RUSAGE_SELF)
        spans = 0
        with path.open("rb") as file:
            for line in file:
                for each in orjson.loads(line)["resourceSpans"]:
                    spans += sum(len(scope["spans"]) for scope in each["scopeSpans"])
    else:
        import pandas as pd

        import workbench as wb

        assert pd.DataFrame  # what starting pandas costs is not what loading costs
        wb.load(b'{"resourceSpans":[]}').spans  # noqa: B018 - imports what reading needs
        before = resource.getrusage(resource.RUSAGE_SELF)
        spans = len(wb.load(path).spans)
    after = resource.getrusage(resource.RUSAGE_SELF)
    used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    print(f"{used:.3f} {spans} {after.ru_maxrss // 1024}")


def main(path: Path | None, megabytes: int) -> None:
    """Make the file where it is missing, measure both, print the table."""
    with tempfile.TemporaryDirectory() as folder:
        path = path or Path(folder) / "telemetry.otlp.jsonl"
        if not path.exists():
            with path.open("wb") as file:
                file.writelines(lines(megabytes * 1_000_000))
        best: dict[str, tuple[float, int, int]] = {}
        for _ in range(3):
            for what in ("orjson", "workbench"):
                done = subprocess.run(
                    [sys.executable, __file__, "--measure", what, str(path)],
                    check=True,
                    capture_output=True,
                    text=True,
                )
                seconds, spans, peak = done.stdout.split()
                best[what] = min(best.get(what, (1e9, 0, 0)), (float(seconds), int(spans), int(peak)))
        print(f"{path.stat().st_size / 1e6:.0f} MB, {best['workbench'][1]:,} spans")
        for what, (seconds, spans, peak) in best.items():
            name = "raw orjson.loads" if what == "orjson" else "wb.load(…).spans"
            print(
                f"{name:18} {seconds:6.2f} CPU s  {spans / seconds / 1000:6.0f} k spans/s  peak {peak:5} MB"
            )
        print(f"ratio {best['workbench'][0] / best['orjson'][0]:.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], Path(sys.argv[3]))
    else:
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else None, int(sys.argv[2]) if len(sys.argv) > 2 else 300)
