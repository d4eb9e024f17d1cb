"""The pages about rules, written from the registry and the fixtures: `python -m workbench.rules.docs`.

    python -m workbench.rules.docs [--fixtures tests/rules/fixtures] [--out docs/rules]

One page per rule with what its docstring says, a capture that has the fault, what is found
in it, and the nearest capture without it; and an index. Pages of rules that are gone are
deleted. The fixtures are an argument because an installed package has none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from workbench.rules import all_rules, check
from workbench.rules.registry import SECTIONS, Rule

FIXTURES, OUT = Path("tests/rules/fixtures"), Path("docs/rules")
#: Lines of a fixture that a page shows, and characters of each.
_LINES, _WIDTH = 20, 1200
_FAMILIES = {
    "RUN": "Runs",
    "CAL": "Calls",
    "RES": "Results",
    "APR": "Approvals",
    "SNP": "Snapshots",
    "PAY": "Payloads against the thread",
    "PRV": "Providers",
    "TEL": "Telemetry",
    "MSG": "Messages",
    "STP": "Steps",
    "STA": "State",
    "TIM": "Time",
    "SCH": "Schema",
}
_WRITTEN = (
    "<!-- written by `python -m workbench.rules.docs`; change the rule's docstring or fixture instead -->"
)


def pages(fixtures: Path) -> dict[str, str]:
    """All pages by file name, the index as `README.md`."""
    rules = all_rules()
    found = {f"{name}.md": page(rule, fixtures / name) for name, rule in rules.items()}
    found["README.md"] = index(list(rules.values()))
    return found


def page(rule: Rule, fixture: Path) -> str:
    """The page of one rule. Without a fixture the two captures are left out."""
    sections = rule.sections
    needs = ", ".join(f"`{need}`" for need in rule.needs)
    lines = [
        _WRITTEN,
        "",
        f"# {rule.name}",
        "",
        f"**{rule.code}** · {rule.severity} · looks at a whole {rule.scope} · needs {needs}",
        "",
        _prose(rule.meaning),
    ]
    for heading in SECTIONS[:3]:
        if heading in sections:
            lines += ["", f"## {heading}", "", _prose(sections[heading])]
    if "Example" in sections:
        lines += ["", "## Example", "", *_block([line.strip() for line in sections["Example"].splitlines()])]
    if fixture.is_dir():
        lines += _captures(rule, fixture)
    if "Sources" in sections:
        lines += ["", "## Sources", "", _prose(sections["Sources"])]
    return "\n".join(lines) + "\n"


def index(rules: Sequence[Rule]) -> str:
    """The list of all rules, by family, in order of their codes."""
    lines = [
        _WRITTEN,
        "",
        "# Rules",
        "",
        "A rule is one kind of fault. `workbench rules NAME` prints the same pages; `--select` and `--ignore` take",
        "names, codes and families (`call`, `CAL`). The severity is the usual one: a finding can be milder where",
        "its page says so.",
    ]
    families: dict[str, list[Rule]] = {}
    for rule in rules:
        families.setdefault(rule.code[:3], []).append(rule)
    order = [*_FAMILIES, *sorted(families.keys() - _FAMILIES.keys())]
    for family in (code for code in order if code in families):
        lines += [
            "",
            f"## {_FAMILIES.get(family, family)}",
            "",
            "| code | rule | severity | what it means |",
            "|---|---|---|---|",
        ]
        for rule in sorted(families[family], key=lambda rule: rule.code):
            meaning = _prose(rule.meaning).replace("|", "\\|")
            lines.append(f"| {rule.code} | [{rule.name}]({rule.name}.md) | {rule.severity} | {meaning} |")
    return "\n".join(lines) + "\n"


def _captures(rule: Rule, fixture: Path) -> list[str]:
    """The faulty capture with what is found in it, and its clean neighbour."""
    from workbench.trace import load

    faulty, clean = (sorted(fixture.glob(f"{stem}*")) for stem in ("faulty", "clean"))
    lines = ["", "## A capture with the fault", *_shown(faulty)]
    findings = [f for f in check(load(*map(str, faulty)), select=[rule.name]) if f.rule == rule.name]
    lines += ["", "Found in it:", ""]
    for finding in findings:
        places = [e.line if e.line is not None else e.record for e in finding.evidence]
        numbers = ", ".join(str(n) for n in dict.fromkeys(places) if n is not None)
        word = "lines" if "," in numbers else "line"
        where = f" ({word} {numbers})" if numbers and finding.evidence[0].line is not None else ""
        lines.append(f"- {finding.severity}: {finding.message}{where}")
    return [*lines, "", "## The nearest capture without it", *_shown(clean)]


def _shown(files: Sequence[Path]) -> list[str]:
    lines: list[str] = []
    for file in files:
        rows = file.read_text(encoding="utf-8").splitlines()
        if file.suffix not in (".jsonl", ".sse") or len(rows) > _LINES * 3:
            lines += ["", f"See `{file.parent.name}/{file.name}` among the fixtures of the tests."]
            continue
        more = [f"… {len(rows) - _LINES} more lines"] if len(rows) > _LINES else []
        shown = rows if not more else rows[:_LINES]
        lines += ["", *_block([row if len(row) <= _WIDTH else f"{row[:_WIDTH]}…" for row in shown] + more)]
    return lines


def _block(rows: Sequence[str]) -> list[str]:
    return ["```json", *rows, "```"]


def _prose(text: str) -> str:
    """A paragraph; a first word in lower case is capitalised, an identifier is not."""
    words = text.split()
    if words and words[0].isalpha() and words[0].islower():
        words[0] = words[0].capitalize()
    return re.sub(r"`([a-z-]+)`", _linked, " ".join(words))


def _linked(match: re.Match[str]) -> str:
    """The name of a rule as a link to its page; other code as it is."""
    return f"[{match[0]}]({match[1]}.md)" if match[1] in all_rules() else match[0]


def write(fixtures: Path, out: Path) -> None:
    """Write all pages to a folder, and delete those of rules that are gone."""
    made = pages(fixtures)
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*.md"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (out / name).write_text(text, encoding="utf-8")


def main() -> None:
    """The command line of this module."""
    import argparse

    parser = argparse.ArgumentParser(
        prog="python -m workbench.rules.docs", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--fixtures", type=Path, default=FIXTURES, help="folder with a folder per rule")
    parser.add_argument("--out", type=Path, default=OUT, help="folder for the pages")
    given = parser.parse_args()
    write(given.fixtures, given.out)


if __name__ == "__main__":
    main()
