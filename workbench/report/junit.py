"""Findings as JUnit XML: a build server shows them as test cases, one per rule and thread."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from workbench.report.plain import lines, plain

if TYPE_CHECKING:
    from workbench.findings import Finding, Findings

#: what no XML 1.0 document may hold
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(findings: Findings, *, fail_on: str = "error") -> str:
    """One suite per rule: a test case for each finding at or above `fail_on` fails, others pass with output.

    A rule that found nothing is one passing case, a skipped one is skipped with its reason, and a rule
    that could not run is an error. Attributes and order are those of the Jenkins xUnit schema.
    """
    from workbench.rules import all_rules

    failing = {id(f) for f in findings.at_least(fail_on)} if fail_on != "never" else set()
    by_rule: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_rule[finding.rule].append(finding)
    skipped = {s.rule: s for s in findings.skipped}
    root = ET.Element("testsuites", name="workbench check")
    totals = [0, 0, 0]
    for rule in dict.fromkeys([*by_rule, *all_rules(), *skipped]):
        found = by_rule.get(rule, [])
        suite = ET.SubElement(root, "testsuite", name=_legal(rule))
        numbers = [0, 0, 0, 0]
        if not found:
            case = _case(suite, rule, "nothing found")
            numbers[0] = 1
            if rule in skipped and skipped[rule].failed:
                numbers[2] = 1
                ET.SubElement(case, "error", message=_legal(skipped[rule].reason), type="rule-failed")
            elif rule in skipped:
                numbers[3] = 1
                ET.SubElement(case, "skipped").text = _legal(skipped[rule].reason)
        for finding in found:
            numbers[0] += 1
            case = _case(suite, rule, _title(finding))
            text = _text(finding)
            if id(finding) in failing:
                numbers[1] += 1
                failure = ET.SubElement(
                    case, "failure", message=_legal(finding.message, 1000), type=_legal(finding.severity)
                )
                failure.text = text
            else:
                ET.SubElement(case, "system-out").text = text
        for name, number in zip(("tests", "failures", "errors", "skipped"), numbers, strict=True):
            suite.set(name, str(number))
        suite.set("time", "0")
        totals = [a + b for a, b in zip(totals, numbers[:3], strict=True)]
    for name, number in zip(("tests", "failures", "errors"), totals, strict=True):
        root.set(name, str(number))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _case(suite: ET.Element, rule: str, name: str) -> ET.Element:
    return ET.SubElement(
        suite, "testcase", classname=f"workbench.{_legal(rule)}", name=_legal(name, 300), time="0"
    )


def _title(finding: Finding) -> str:
    """What tells this finding from others of its rule: its ids, or where it stands."""
    ids = finding.call_ids or finding.approval_ids or finding.other_ids
    where = str(finding.evidence[0]) if finding.evidence else ""
    return (
        f"{', '.join(ids[:3]) or finding.run_id or 'capture'} in thread {finding.thread_id or '(none)'}"
        + (f" at {where}" if where else "")
    )


def _text(finding: Finding) -> str:
    places = "".join(f"\nat {place}" for place in dict.fromkeys(finding.evidence))
    advice = f"\nTo do: {finding.help}" if finding.help else ""
    return _ILLEGAL.sub("�", lines(f"{finding.severity}: {finding.message}{places}{advice}", 10_000))


def _legal(text: str, limit: int = 500) -> str:
    return _ILLEGAL.sub("�", plain(text, limit))
