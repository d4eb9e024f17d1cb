"""Load a large OTLP file, beside raw `orjson.loads` and, where it is installed, Phoenix's decoder.

    python benchmarks/telemetry.py [--megabytes 300] [--runs 3] [--phoenix PYTHON] [--write]

Makes OTLP JSON lines (300 MB: about 113,000 spans with messages of 1 to 4 KB) in a temporary folder and runs each
in a process of its own, in turns. PYTHON is the interpreter of an environment with arize-phoenix, which cannot be
installed beside the workbench; its decoder gets the spans of the first lines as protobuf, which is how it receives
them. `--write` puts the table into docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
BEGIN, END = "<!-- telemetry: begin -->", "<!-- telemetry: end -->"
ORJSON, OURS, PHOENIX = "raw `orjson.loads`", "`wb.load(…).spans`", "Phoenix's `decode_otlp_span`"
#: lines that Phoenix decodes: its speed is in spans per second, and all of them would take minutes
PHOENIX_LINES = 100
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


def orjson_loads(path: Path) -> int:
    """Make dicts of the lines, and nothing of the dicts."""
    import orjson

    with path.open("rb") as file:
        exports = (export for line in file for export in orjson.loads(line)["resourceSpans"])
        return sum(len(scope["spans"]) for export in exports for scope in export["scopeSpans"])


def workbench_spans(path: Path) -> int:
    """The finished table."""
    import workbench as wb

    return len(wb.load(path).spans)


def measure(what: str, path: Path) -> None:
    """Do one of the two and print its CPU seconds, spans and peak memory in MB."""
    if what == OURS:
        import workbench as wb

        # what starting pandas and the reader costs is not what loading costs
        wb.load(b'{"resourceSpans":[]}').spans  # noqa: B018
    before = resource.getrusage(resource.RUSAGE_SELF)
    spans = (workbench_spans if what == OURS else orjson_loads)(path)
    after = resource.getrusage(resource.RUSAGE_SELF)
    used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    print(f"{used:.3f} {spans} {after.ru_maxrss // 1024}")


#: runs in the environment of Phoenix: `python -c … FILE LINES`
PHOENIX_CODE = """
import base64, itertools, json, resource, sys
from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from phoenix.trace.otel import decode_otlp_span

def binary(text):
    return base64.b64encode(bytes.fromhex(text)).decode()

requests = []
with open(sys.argv[1], "rb") as file:
    for line in itertools.islice(file, int(sys.argv[2])):
        value = json.loads(line)
        for export in value["resourceSpans"]:
            for scope in export["scopeSpans"]:
                for span in scope["spans"]:
                    for key in ("traceId", "spanId", "parentSpanId"):
                        if span.get(key):
                            span[key] = binary(span[key])
        requests.append(json_format.ParseDict(value, ExportTraceServiceRequest()).SerializeToString())
before = resource.getrusage(resource.RUSAGE_SELF)
spans = 0
for data in requests:
    for export in ExportTraceServiceRequest.FromString(data).resource_spans:
        for scope in export.scope_spans:
            for span in scope.spans:
                decode_otlp_span(span)
                spans += 1
after = resource.getrusage(resource.RUSAGE_SELF)
used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
print(f"{used:.3f} {spans} {after.ru_maxrss // 1024}")
"""


def main() -> None:
    """Make the file, measure in turns, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument(
        "--phoenix", metavar="PYTHON", help="interpreter of an environment with arize-phoenix"
    )
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    asked = parser.parse_args()
    found: dict[str, list[tuple[float, int, int]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "telemetry.otlp.jsonl"
        with path.open("wb") as file:
            file.writelines(lines(asked.megabytes * 1_000_000))
        commands = {what: [sys.executable, __file__, "--measure", what, str(path)] for what in (ORJSON, OURS)}
        if asked.phoenix:
            commands[PHOENIX] = [asked.phoenix, "-c", PHOENIX_CODE, str(path), str(PHOENIX_LINES)]
        for _ in range(asked.runs):
            for what, command in commands.items():
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                seconds, spans, peak = done.stdout.split()[-3:]
                found.setdefault(what, []).append((float(seconds), int(spans), int(peak)))
    told = table(found, asked.megabytes)
    print(told)
    if asked.write:
        page = PAGE.read_text(encoding="utf-8")
        before, _, rest = page.partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{told}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def table(found: dict[str, list[tuple[float, int, int]]], megabytes: int) -> str:
    """What was measured as Markdown; ratios are those of the runs of one turn."""
    told = [
        f"{megabytes} MB, {found[OURS][0][1]:,} spans, {len(found[OURS])} turns.",
        "",
        "| | CPU s, least | spans per CPU second | peak MB |",
        "|---|---|---|---|",
    ]
    for what, runs in found.items():
        seconds, spans, peak = min(runs)
        told.append(f"| {what} | {seconds:.2f} | {spans / seconds:,.0f} | {peak} |")
    turns = zip(found[OURS], found[ORJSON], strict=True)
    told += ["", f"Our CPU to that of `orjson.loads`: {spread([ours[0] / raw[0] for ours, raw in turns])}."]
    if PHOENIX in found:
        speeds = [
            (ours[1] / ours[0]) / (theirs[1] / theirs[0])
            for ours, theirs in zip(found[OURS], found[PHOENIX], strict=True)
        ]
        told[-1] += f" Our spans per CPU second to Phoenix's: {spread(speeds)}."
    return "\n".join(told)


def spread(ratios: list[float]) -> str:
    """Median, least and most."""
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], Path(sys.argv[3]))
    else:
        main()
