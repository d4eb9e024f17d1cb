"""Redacted captures show the same faults and no text of the original; over every case and recording.

`pytest tests/redact -s` prints the counts.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import workbench as wb
from workbench.findings import Finding
from workbench.report.redact import document, files, kept, redactor
from workbench.report.redact.document import _CODE, _ISO, _VERSION, Redactor

sys.path.insert(0, str(Path(__file__).parent))
from values import Values, forms

KEY = b"a key for tests"
EVENT_KEYS = ("type", "event", "custom name", "header name", "role", "op")
OPERATION_KEYS = (
    "gen_ai.operation.name",
    "gen_ai.provider.name",
    "gen_ai.system",
    "gen_ai.tool.type",
    "event.name",
)
PLAIN = re.compile(r"[\w./:-]{1,80}")
#: captures whose findings are not all the same after redaction yet, and why
CHANGED = {
    # a table of text, written back as OTLP: that it could hold no content is no longer to be seen
    "telemetry/aspire/cli_otel_spans.txt",
}
ID = re.compile(r"(?:^|[._-]|[a-z0-9])(?:[iI]ds?|ID)$")


def fault(finding: Finding, named: Callable[[str], str]) -> tuple[object, ...]:
    ids = (finding.call_ids, finding.approval_ids, finding.other_ids)
    return (
        finding.rule, finding.severity, finding.place, named(finding.thread_id), named(finding.run_id),
        *(tuple(map(named, group)) for group in ids),
    )  # fmt: skip


def may_stay(key: str, text: str, made: Redactor, values: Values) -> bool:
    """The kept list: words of protocols and frameworks, names of fields, tools and events, times, versions."""
    words = re.findall(r"[A-Za-z]+", text)
    lower = {word.lower() for word in words}
    names = values.keys | made._tools
    return any(
        (
            text.lower() in kept.WORDS | document._URL_WORDS,
            text in names or not words or text in "execute_tool invoke_agent",
            ID.search(key),
            _ISO.fullmatch(text),
            key in EVENT_KEYS and PLAIN.fullmatch(text),
            key == "code" and _CODE.fullmatch(text),
            "ersion" in key and _VERSION.fullmatch(text),
            kept.ERROR_NAME.fullmatch(text),
            kept.LIBRARIES.match(text),
            key.lower() in document._HEADERS_KEPT | {"mimetype"},
            key in OPERATION_KEYS and PLAIN.fullmatch(text),
            key in ("severityNumber", "severity_number") and text.startswith("SEVERITY_NUMBER_"),
            # a placeholder or refusal that a framework wrote
            lower <= kept.FRAMEWORK | {"error"} and not re.search(r"\d", text),
            # a span called after its operation and tool
            all(w.lower() in kept.WORDS or w in made._tools for w in text.split()),
            # the name of an event of the GenAI conventions
            key in ("eventName", "event_name") and PLAIN.fullmatch(text),
            # a word that names of fields are made of as well
            text.isalpha() and any(text in name for name in values.keys | made._tools),
            # a delta that holds names of fields and nothing else, and a JSON pointer
            key == "delta" and (set(words) <= values.keys or re.fullmatch(r'\{"\w+"?:?\s*', text)),
            key == "pointer",
            # the address of a provider
            key == "url" and {w.lower() for w in re.findall(r"[A-Za-z0-9]+", text)} <= document._URL_WORDS,
        )
    )


def test_findings_stay_and_texts_go(
    all_captures: list[tuple[str, list[str]]], capsys: pytest.CaptureFixture[str]
) -> None:
    counts: Counter[str] = Counter()
    differing: list[str] = []
    leaks: list[str] = []
    for name, paths in all_captures:
        trace = wb.load(*paths)
        made = redactor(trace, key=KEY)
        written = list(files.redacted(made, paths, trace))
        again = files.reloaded(written)
        before = Counter(fault(f, made.mapped) for f in wb.check(trace))
        after = Counter(fault(f, str) for f in wb.check(again))
        counts["captures"] += 1
        counts["findings"] += before.total()
        if before != after:
            differing.append(f"{name}: {list((before - after) or (after - before))[:2]}")
        values = Values()
        for path in paths:
            values.file(Path(path).read_bytes())
        free = {t for k, t in values.all() if len(t) >= 6 and not may_stay(k, t, made, values)}
        output = b"\n".join(_unpacked(item.data) for item in written)
        counts["texts"] += len(free)
        counts["forms"] += 8 * len(free)
        counts["bytes"] += len(output)
        leaks += [f"{name}: {text[:60]!r}" for text in free if any(form in output for form in forms(text))]
    with capsys.disabled():
        print(
            "\nredaction:",
            ", ".join(f"{number:,} {word}" for word, number in counts.items()),
            f"; {len(differing)} differing, {len(leaks)} leaks",
        )
    found = {line.partition(": ")[0] for line in differing}
    assert found == CHANGED, "\n".join(differing)
    assert not leaks, "\n".join(leaks)
    assert counts["captures"] > 500
    assert counts["texts"] > 1000


def _unpacked(data: bytes) -> bytes:
    if data[:4] != b"PK\3\4":
        return data
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return b"\n".join(name.encode() + b"\n" + archive.read(name) for name in archive.namelist())
