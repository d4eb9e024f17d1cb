"""Run the replay notebooks and report on them: `python -m workbench.report.replays`.

It writes, for each notebook, the executed notebook and a page that is whole offline; an index page; and
JUnit with one test case per claim and per arm and release. A notebook that does not run to its end is a
failure, also where its kernel died.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape as escaped
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from workbench.report.plain import lines
from workbench.report.run import RunFailedError, export, heading, run

#: form of the verdicts in an executed notebook
MIME = "application/vnd.agui-workbench.claims+json"


@dataclass
class Ran:
    """One notebook that was run: its pages, its verdicts, and why it failed."""

    name: str
    title: str
    seconds: float
    page: Path | None = None
    verdicts: dict[str, Any] = field(default_factory=dict)
    failure: str = ""


def notebooks() -> list[Path]:
    """The replay notebooks of the checkout: those whose parameters have a mode."""
    folder = Path(__file__).resolve().parents[2] / "notebooks"
    return [path for path in sorted(folder.glob("*.ipynb")) if "mode = " in _parameters(path)]


def _parameters(book: Path) -> str:
    """The parameters cell of a notebook."""
    cells = json.loads(book.read_text(encoding="utf-8"))["cells"]
    found = [cell for cell in cells if "parameters" in cell["metadata"].get("tags", ())]
    return "".join(found[0]["source"]) if found else ""


def run_one(book: Path, output: Path, parameters: dict[str, Any]) -> Ran:
    """Run one notebook; never raises for what happens in it."""
    started = time.monotonic()
    title = heading(book)
    executed = output / book.name
    ran = Ran(book.stem, title, 0)
    try:
        executed, ran.page = run(
            book, parameters=parameters, output=output, title=title, progress=sys.stderr.isatty()
        )
    except RunFailedError as problem:
        ran.failure = str(problem)
        if executed.exists():
            ran.page = export(executed, title=title)
    ran.seconds = time.monotonic() - started
    ran.verdicts = verdicts(executed)
    return ran


def verdicts(executed: Path) -> dict[str, Any]:
    """The verdicts that an executed notebook has shown; empty where it did not come so far."""
    if not executed.exists():
        return {}
    for cell in json.loads(executed.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", ()):
            if MIME in output.get("data", {}):
                found: dict[str, Any] = output["data"][MIME]
                return found
    return {}


def junit(runs: Sequence[Ran]) -> str:
    """JUnit XML: a suite per notebook, a test case per claim, per arm and release, and for the run itself."""
    root = ET.Element("testsuites")
    for ran in runs:
        suite = ET.SubElement(root, "testsuite", name=ran.name, time=f"{ran.seconds:.1f}")
        _case(suite, ran.name, "the notebook runs to its end", ran.failure, seconds=ran.seconds)
        for claim in ran.verdicts.get("claims", ()):
            wrong = (
                "" if claim["verdict"] == claim["expected"] else f"expected: {claim['expected'] or 'nothing'}"
            )
            told = f"{claim['verdict']}: {claim['because']}"
            _case(
                suite,
                f"{ran.name}.claim",
                f"{claim['name']}: {claim['text']}",
                f"{told}; {wrong}" if wrong else "",
                told,
            )
        for arm in ran.verdicts.get("outcomes", ()):
            wanted = arm["expected"]
            wrong = f"{arm['outcome']}, expected: {wanted}" if wanted and wanted != arm["outcome"] else ""
            _case(suite, f"{ran.name}.arm", f"{arm['arm']} on {arm['release']}", wrong, arm["outcome"])
        suite.set("tests", str(len(suite)))
        suite.set("failures", str(len(suite.findall("testcase/failure"))))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(
    suite: ET.Element, group: str, name: str, failure: str, told: str = "", *, seconds: float = 0
) -> None:
    case = ET.SubElement(suite, "testcase", classname=group, name=lines(name), time=f"{seconds:.1f}")
    if failure:
        node = ET.SubElement(case, "failure", message=lines(failure).split("\n")[0][:200])
        node.text = lines(failure)
    elif told:
        ET.SubElement(case, "system-out").text = lines(told)


def index(runs: Sequence[Ran], others: Sequence[tuple[str, Path]] = ()) -> str:
    """The page that leads to the others."""
    rows = []
    for ran in runs:
        claims = ran.verdicts.get("claims", [])
        good = sum(claim["verdict"] == claim["expected"] for claim in claims)
        state = "failed" if ran.failure else "as expected"
        link = (
            f'<a href="{escaped(ran.page.name)}">{escaped(ran.title)}</a>' if ran.page else escaped(ran.title)
        )
        mode = escaped(ran.verdicts.get("mode", ""))
        rows.append(
            f"<tr><td>{link}</td><td>{state}</td><td>{good} of {len(claims)}</td><td>{mode}</td><td>{ran.seconds:.0f} s</td></tr>"
        )
    more = "".join(f'<li><a href="{escaped(path.name)}">{escaped(title)}</a></li>' for title, path in others)
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Reports of the workbench</title><style>'
        "body{font-family:system-ui,sans-serif;margin:2em auto;max-width:60em;padding:0 1em;color-scheme:light dark}"
        "td,th{text-align:left;padding:.3em 1em .3em 0;border-bottom:1px solid #8885}table{border-collapse:collapse}"
        "</style></head><body><h1>Reports of the workbench</h1>"
        f"<ul>{more}</ul><h2>Replayed bugs</h2><table><thead><tr><th>notebook</th><th>result</th>"
        f"<th>verdicts as expected</th><th>mode</th><th>time</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
        "</body></html>\n"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; 0 where all is as expected, 1 where a notebook failed."""
    parser = argparse.ArgumentParser(prog="python -m workbench.report.replays", description=__doc__)
    parser.add_argument("notebook", nargs="*", type=Path, help="notebooks to run; all replays by default")
    parser.add_argument(
        "--mode", default="recorded", choices=("recorded", "live"), help="what the notebooks do"
    )
    parser.add_argument(
        "-o", "--output", default="reports", type=Path, metavar="FOLDER", help="folder to write to"
    )
    given = parser.parse_args(arguments)
    given.output.mkdir(parents=True, exist_ok=True)
    runs = []
    for book in given.notebook or notebooks():
        ran = run_one(book, given.output, {"mode": given.mode})
        runs.append(ran)
        if ran.failure:
            sys.stderr.write(f"{ran.name}: {lines(ran.failure)}\n")
        sys.stdout.write(f"{ran.name}: {'failed' if ran.failure else 'as expected'}, {ran.seconds:.0f} s\n")
    (given.output / "replays.xml").write_text(junit(runs), encoding="utf-8")
    others = [
        ("What became of every tool call", given.output / "investigate.html"),
        ("Would this history be rejected?", given.output / "history.html"),
    ]
    page = given.output / "index.html"
    page.write_text(index(runs, [item for item in others if item[1].exists()]), encoding="utf-8")
    sys.stdout.write(f"{page}\n")
    return int(any(ran.failure for ran in runs))


if __name__ == "__main__":
    sys.exit(main())
