"""The sequence diagram as Mermaid text, for places that draw it themselves (an issue, a wiki)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.exceptions import DiagramError
from workbench.findings import Finding
from workbench.views.participants import Participant
from workbench.views.steps import AGENT, CLIENT, Step
from workbench.views.text import clean, isolated, plural

#: renderers refuse longer texts and show a picture of an error instead
MAX_CHARACTERS = 50_000
_LABEL = 120
# What ends a label, or opens an entity, markup, a directive or a formula. Quotes and backslashes
# are let through by the parser, but not by every place that the text is pasted into.
_SPECIAL = re.compile(r"[#;<>&\"`\\]|%(?=%)|\$(?=\$)|(?<=%)%|(?<=\$)\$")
_ARROWS = {"result": "-->>", "reasoning": "-->>", "state": "-->>", "other": "-->>", "error": "-x",
           "work": "-)"}  # fmt: skip


def escape(text: str, limit: int = _LABEL) -> str:
    """One line that no Mermaid parser takes for anything but text."""
    line = _SPECIAL.sub(_entity, clean(text, limit))
    # `wrap:` at the beginning is an instruction, and `end` alone closes a block.
    line = re.sub(r"^:?\s*(no)?wrap:", lambda match: match[0].replace(":", "#58;"), line)
    line = re.sub(
        r"(?<!\w)end(?!\w)", lambda match: f"#{ord(match[0][0])};{match[0][1:]}", line, flags=re.IGNORECASE
    )
    return isolated(line)


def _entity(match: re.Match[str]) -> str:
    return f"#{ord(match[0])};"


def write(
    steps: Sequence[Step],
    people: Sequence[Participant],
    outside: Sequence[Finding] = (),
    notes: Sequence[str] = (),
    *,
    hint: str,
) -> str:
    """The diagram as text. Raises `DiagramError` with `hint` where renderers would refuse its length."""
    alias = {person.key: f"p{number}" for number, person in enumerate(people)}
    ends = f"{alias[people[0].key]},{alias[people[-1].key]}" if people else ""
    out = ["sequenceDiagram"]
    for person in people:
        word = "actor" if person.key == CLIENT else "participant"
        out.append(f"    {word} {alias[person.key]} as {escape(person.name, 60)}")
    for step in steps:
        if step.skipped:
            words = (
                plural(step.skipped_events, "event") if step.skipped_events else plural(step.skipped, "arrow")
            )
            out.append(f"    Note over {ends}: … {words} not shown")
        if step.band:
            out.append(f"    Note over {ends}: {escape(step.band, 200)}")
        if step.kind == "log":
            out.append(f"    Note over {alias[step.source]}: {_words(step)}")
        else:
            out.append(f"    {alias[step.source]}{_arrow(step)}{alias[step.target]}: {_words(step)}")
        for mark in step.marks:
            words = (
                f"{mark.finding.rule}: {mark.finding.message}"
                if mark.main
                else f"{mark.finding.rule}, also here"
            )
            out.append(
                f"    Note over {alias[step.source]},{alias[step.target]}: {_sign(mark.finding)} {escape(words, 200)}"
            )
    if people:
        out += [f"    Note over {ends}: {_sign(f)} {escape(f'{f.rule}: {f.message}', 200)}" for f in outside]
        out += [f"    Note over {ends}: {escape(note, 200)}" for note in notes]
    if not people:
        out.append(f"    participant {AGENT} as nothing to draw")
    text = "\n".join(out) + "\n"
    if len(text) > MAX_CHARACTERS:
        raise DiagramError(
            f"the Mermaid text has {len(text):,} characters, renderers draw at most {MAX_CHARACTERS:,}: {hint}"
        )
    return text


def _arrow(step: Step) -> str:
    if step.bad:
        return "--x" if step.kind == "result" else "-x"
    return _ARROWS.get(step.kind, "->>")


def _words(step: Step) -> str:
    count = f" × {step.events}" if step.events > 1 else ""
    number = "" if step.first is None else f"#35;{step.first} "
    return f"{number}{escape(step.type, 60)}{count} {escape(step.label)}".rstrip()


def _sign(finding: Finding) -> str:
    return {"error": "⛔ error", "warning": "⚠ warning", "info": "ℹ info"}.get(
        finding.severity, finding.severity
    )
