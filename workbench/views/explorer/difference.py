"""The difference of two calls, step by step, and of two traces, call by call."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Any

from workbench.calls.conversation import Call
from workbench.findings import Finding
from workbench.views import tables
from workbench.views.explorer.choice import ids
from workbench.views.layout import head_text
from workbench.views.steps import Step
from workbench.views.text import clean, plural, short_id

#: steps of a call, and pairs of calls, that are compared or shown
MAX_STEPS, MAX_PAIRS = 600, 1_000

Row = dict[str, Any]


def of_calls(left: Call, right: Call, left_steps: Sequence[Step], right_steps: Sequence[Step]) -> Row:
    """Facts and steps of two calls side by side; ids and event numbers do not count as a difference."""
    rows = [
        {"same": one == other, "head": name, "left": one, "right": other}
        for name, one, other in (
            (name, one, other) for (name, one), (_, other) in zip(_facts(left), _facts(right), strict=True)
        )
    ]
    told = [[_told(step, call) for step in steps[:MAX_STEPS]] for steps, call in ((left_steps, left), (right_steps, right))]  # fmt: skip
    matcher = SequenceMatcher(None, [key for key, _ in told[0]], [key for key, _ in told[1]], autojunk=False)
    aligned: list[Row] = []
    for word, a, b, c, d in matcher.get_opcodes():
        for n in range(max(b - a, d - c)):
            one = told[0][a + n][1] if a + n < b else ""
            other = told[1][c + n][1] if c + n < d else ""
            aligned.append({"same": word == "equal", "left": one, "right": other})
    cut = max(len(left_steps), len(right_steps)) > MAX_STEPS
    return {
        "title": f"{_name(left)} beside {_name(right)}",
        "facts": rows,
        "steps": aligned,
        "note": f"the first {MAX_STEPS} steps of each" if cut else "",
    }


def _name(call: Call) -> str:
    return f"{clean(call.tool, 60) or 'unnamed'} {short_id(call.id)}"


def _facts(call: Call) -> list[tuple[str, str]]:
    result = next((r for r in call.results if not r.decision), None)
    said = ", ".join(dict.fromkeys(f"{a.decision}, {a.state}" for a in call.approvals))
    return [
        ("tool", clean(call.tool, 120)),
        ("arguments", clean(call.arguments or "", 400)),
        ("decision", said or "not asked"),
        ("fate", _fate(call)),
        ("result", clean(result.content, 400) if result is not None else ""),
        ("starts", str(len(call.starts))),
        ("results", str(sum(not r.decision for r in call.results))),
    ]


def _fate(call: Call) -> str:
    # the id of what it confirms is no difference
    return "asks to confirm another call" if call.synthetic_for is not None else clean(tables.fate(call).text)


def _told(step: Step, call: Call) -> tuple[tuple[str, ...], str]:
    """What is compared of a step, and what is shown."""
    words = step.label
    own = [*ids(call), step.message_id, step.approval_id, step.call_id, step.run.run_id, step.run.thread_id]
    for name in sorted({n for n in own if n}, key=len, reverse=True):
        words = words.replace(name, "‹id›").replace(short_id(name), "‹id›")
    key = (step.kind, step.type, step.source, step.target, words, str(step.bad))
    return key, clean(f"{head_text(step)}  {step.label}", 300)


def of_traces(
    left: Sequence[Call], right: Sequence[Call], left_found: Iterable[Finding], right_found: Iterable[Finding]
) -> Row:
    """Calls of two traces side by side, matched by tool and arguments, then by tool alone; findings by rule."""
    pairs = _matched(left, right)
    rows = []
    for one, other in pairs:
        said = [_fate(call) if call is not None else "" for call in (one, other)]
        changed = [
            word
            for word, differs in (
                ("arguments", bool(one and other and one.arguments != other.arguments)),
                ("fate", said[0] != said[1]),
            )
            if differs
        ]
        rows.append(
            {
                "same": not changed,
                "head": clean((one or other).tool, 60) if one or other else "",  # type: ignore[union-attr]
                "left": _line(one, said[0]),
                "right": _line(other, said[1]),
                "changed": ", ".join(changed) if one and other else "only here",
            }
        )
    counts = [Counter(finding.rule for finding in found) for found in (left_found, right_found)]
    rules = [
        {"same": counts[0][rule] == counts[1][rule], "head": rule, "left": str(counts[0][rule]), "right": str(counts[1][rule])}
        for rule in sorted(counts[0].keys() | counts[1].keys())
    ]  # fmt: skip
    different = [row for row in rows if not row["same"]]
    alike = len(rows) - len(different)
    notes = [f"{plural(alike, 'call')} of the same fate not listed" if alike else ""]
    notes.append(
        f"{plural(len(different) - MAX_PAIRS, 'more difference')} not listed"
        if len(different) > MAX_PAIRS
        else ""
    )
    return {
        "title": "first trace beside second trace",
        "facts": rules,
        "steps": different[:MAX_PAIRS],
        "note": "; ".join(filter(None, notes)),
    }


def _matched(left: Sequence[Call], right: Sequence[Call]) -> list[tuple[Call | None, Call | None]]:
    partner: dict[int, Call] = {}
    taken: set[int] = set()
    for exact in (True, False):
        free: dict[tuple[str, str | None], list[Call]] = defaultdict(list)
        for call in reversed(right):
            if id(call) not in taken:
                free[call.tool, call.arguments if exact else ""].append(call)
        for call in left:
            if id(call) not in partner and (here := free[call.tool, call.arguments if exact else ""]):
                partner[id(call)] = here.pop()
                taken.add(id(partner[id(call)]))
    pairs: list[tuple[Call | None, Call | None]] = [(call, partner.get(id(call))) for call in left]
    return pairs + [(None, call) for call in right if id(call) not in taken]


def _line(call: Call | None, fate: str) -> str:
    return "" if call is None else f"{short_id(call.id)} {clean(call.arguments or '', 120)} → {fate}"
