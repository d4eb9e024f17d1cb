"""Reports for people and machines: one page that works offline, JUnit, SARIF."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import pytest

import workbench as wb
from workbench.rules import all_rules

EVIL = "</script><script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">"


def hostile() -> wb.Trace:
    ids = {"threadId": EVIL, "runId": EVIL}
    events = [
        {"type": "RUN_STARTED", **ids},
        {"type": "TOOL_CALL_START", "toolCallId": EVIL, "toolCallName": EVIL},
        {"type": "TOOL_CALL_ARGS", "toolCallId": EVIL, "delta": json.dumps({"a": EVIL})},
        {"type": "TOOL_CALL_RESULT", "toolCallId": EVIL, "messageId": "m", "content": EVIL},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": EVIL, "delta": EVIL},
    ]
    return wb.load("".join(f"data: {json.dumps(event)}\n\n" for event in events).encode())


@pytest.fixture(scope="module")
def found() -> wb.Findings:
    return wb.check(wb.load("sample:provider-tool-lost"))


def test_junit_has_one_failure_for_each_finding_that_counts(found):
    suite = ET.fromstring(wb.report(found, format="junit"))
    failures = [case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None]
    errors = [f for f in found if f.severity == "error"]
    assert errors
    assert sum(len(case.findall("failure")) for case in suite.iter("testcase")) >= len(failures) > 0
    text = ET.tostring(suite, encoding="unicode")
    assert all(f.rule in text for f in errors)


def test_sarif_names_rules_results_and_places(found):
    (run,) = json.loads(wb.report(found, format="sarif"))["runs"]
    known = all_rules()
    assert {rule["name"] if "name" in rule else rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert len(run["results"]) == len(found)
    levels = {"error": "error", "warning": "warning", "info": "note"}
    for result, finding in zip(run["results"], found, strict=True):
        assert result["level"] == levels[finding.severity]
        assert finding.message in result["message"]["text"]
        assert result["ruleId"] in (finding.rule, finding.code, known[finding.rule].code)
        assert result["locations"]


def test_the_page_holds_everything_and_asks_for_nothing(found):
    page = wb.report(found, format="html")
    assert "Content-Security-Policy" in page
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]+"', page)
    for finding in found:
        assert finding.rule in page
    assert {f.code for f in found} <= set(re.findall(r"[A-Z]{3}\d{3}", page))


def test_the_format_follows_the_file(tmp_path, found):
    for name, begin in (("a.html", "<!"), ("a.md", "**"), ("a.xml", "<?xml"), ("a.sarif", "{")):
        text = wb.report(found, tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8") == text
        assert text.lstrip().startswith(begin)
    with pytest.raises(ValueError, match="none of"):
        wb.report(found, format="pdf")  # type: ignore[arg-type]


def test_secrets_are_taken_out_of_what_people_read():
    secret = "sk-proj-abcdEFGH1234abcdEFGH5678"
    event = {"type": "RUN_ERROR", "message": f"401 for {secret}, write to someone@mail.test"}
    trace = wb.load(f"data: {json.dumps(event)}\n\n".encode())
    for form in ("html", "md"):
        page = wb.report(trace, format=form)
        assert secret not in page
        assert "someone@mail.test" not in page
        assert secret in wb.report(trace, format=form, redact=False)


@pytest.mark.browser
def test_nothing_of_a_capture_acts_and_nothing_is_fetched(tmp_path, browser):
    for number, trace in enumerate([hostile(), wb.load("sample:garden", "sample:garden-aspire")]):
        path = tmp_path / f"{number}.html"
        wb.report(trace, path)
        for scheme in ("light", "dark"):
            page = browser.new_page(color_scheme=scheme)
            asked, said = [], []
            page.on("request", lambda request, to=asked: to.append(request.url))
            page.on("console", lambda message, to=said: to.append(message.text))
            page.on("pageerror", lambda error, to=said: to.append(str(error)))
            page.goto(path.as_uri())
            title = page.title()
            page.keyboard.press("Tab")
            assert page.evaluate("document.activeElement.tagName") != "BODY"
            assert "ran" not in title.split()
            assert page.title() == title
            assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
            assert said == []
            page.close()
