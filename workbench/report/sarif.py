"""Findings as SARIF 2.1.0: what code scanning shows, with a rule's own page behind every finding."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from workbench.report.plain import plain

if TYPE_CHECKING:
    from workbench.findings import Evidence, Finding, Findings

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
#: results that code scanning takes from one upload
_RESULTS = 5000
#: places of one result
_PLACES = 20


def sarif(findings: Findings) -> str:
    """The check as one SARIF run; locations are files relative to the working folder where they can be.

    Every rule that was asked is listed, a skipped one as a notification with its reason. Findings keep a
    fingerprint of rule and ids, so that a service tells a new one from one it has seen.
    """
    import workbench
    from workbench.rules import all_rules

    rules = all_rules()
    order = {name: number for number, name in enumerate(rules)}
    results = [_result(finding, order) for finding in findings.items[:_RESULTS]]
    left = len(findings) - len(results)
    notes = [
        {
            "level": "error" if s.failed else "note",
            "message": {"text": plain(s.reason, 1000)},
            "associatedRule": {"id": s.rule},
        }
        for s in findings.skipped
    ]
    if left > 0:
        notes.append(
            {"level": "warning", "message": {"text": f"{left} findings left out: no more than {_RESULTS}."}}
        )
    notes += [
        {
            "level": "warning",
            "message": {"text": plain(f"{p['path']}: not read: {p['reason']}", 1000)},
        }
        for p in findings.trace.summary()["problems"][:1000]
    ]
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "agui-workbench",
                "version": workbench.__version__,
                "semanticVersion": _semantic(workbench.__version__),
                "rules": [_rule(rule) for rule in rules.values()],
            }
        },
        "invocations": [
            {
                "executionSuccessful": not any(s.failed for s in findings.skipped),
                "toolExecutionNotifications": notes,
            }
        ],
        "columnKind": "utf16CodeUnits",
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _semantic(version: str) -> str:
    numbers = version.split("+", maxsplit=1)[0].split(".")
    return ".".join([*(n for n in numbers if n.isdigit()), "0", "0"][:3])


def _rule(rule: Any) -> dict[str, Any]:
    sections = {
        heading: " ".join(text.split()) for heading, text in rule.sections.items() if heading != "Example"
    }
    markdown = "\n\n".join(f"**{heading}:** {text}" for heading, text in sections.items())
    meaning = " ".join(rule.meaning.split())
    return {
        "id": rule.name,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": meaning.split(". ")[0].rstrip(".") + "."},
        "fullDescription": {"text": meaning},
        "help": {
            "text": " ".join(f"{h}: {t}" for h, t in sections.items()) or meaning,
            "markdown": markdown or meaning,
        },
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {
            "code": rule.code,
            "tags": [rule.family],
            "problem.severity": _severity(rule.severity),
        },
    }


def _severity(severity: str) -> str:
    return {"info": "recommendation"}.get(severity, severity)


def _result(finding: Finding, order: dict[str, int]) -> dict[str, Any]:
    ids = (
        finding.rule,
        finding.place,
        finding.thread_id,
        *finding.call_ids,
        *finding.approval_ids,
        *finding.other_ids,
    )
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": plain(finding.message, 4000) or finding.rule},
        "locations": [_location(place) for place in finding.evidence[:1]],
        "relatedLocations": [
            {"id": number, **_location(place)}
            for number, place in enumerate(finding.evidence[1:_PLACES], start=1)
        ],
        "partialFingerprints": {
            "workbenchFinding/v1": hashlib.sha256("\0".join(ids).encode("utf-8", "replace")).hexdigest()
        },
        "properties": {
            "place": finding.place,
            "threadId": plain(finding.thread_id, 500),
            "runId": plain(finding.run_id, 500),
            "callIds": [plain(i, 500) for i in finding.call_ids[:100]],
            "approvalIds": [plain(i, 500) for i in finding.approval_ids[:100]],
        },
    }
    if finding.rule in order:
        result["ruleIndex"] = order[finding.rule]
    return result


def _location(place: Evidence) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(place.path)}}
    if place.line is not None and not place.member:
        physical["region"] = {"startLine": max(place.line, 1)}
    elif place.offset is not None and not place.member:
        physical["region"] = {"byteOffset": place.offset, "byteLength": 0}
    location: dict[str, Any] = {"physicalLocation": physical}
    if place.member:
        inside = f"{place.member}" + (f":{place.line}" if place.line is not None else "")
        location["logicalLocations"] = [{"fullyQualifiedName": plain(inside, 500), "kind": "member"}]
        # a line inside an archive or a HAR body is no line of the file
        physical["region"] = {"startLine": 1}
    return location


def _uri(path: str) -> str:
    """A path as a relative address; what lies elsewhere only by its name, for folders are a person's."""
    pure = Path(path)
    if pure.is_absolute():
        try:
            pure = pure.relative_to(Path.cwd())
        except ValueError:
            pure = Path(pure.name)
    return quote(pure.as_posix().encode("utf-8", "surrogateescape"), safe="/")
