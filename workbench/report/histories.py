"""Message lists through the eyes of model providers, and what would make them accept: for notebooks and terminals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from workbench.calls.conversation import MessageList
from workbench.calls.results import text_of
from workbench.providers import PROVIDERS, Verdict, verdicts
from workbench.providers.repair import Repair, Repairs, Suggestion
from workbench.providers.repair.edits import edited
from workbench.providers.repair.repairs import listed, repair_of, wanting
from workbench.readers.payloads.chat import MADE_UP
from workbench.readers.payloads.dialects import read_as
from workbench.readers.payloads.history import Block
from workbench.report.plain import count, plain
from workbench.views.grid import Cell, Grid, cell

if TYPE_CHECKING:
    from rich.console import Console

    from workbench.trace import Trace

#: characters of a raw value that are shown
_RAW = 160
#: symbol and tone of a verdict
_WORDS = {
    "accepted": ("✓", "good"), "disagrees": ("✓", "good"), "refused": ("✗", "bad"), "confirmed": ("✗", "bad"),
    "unpredicted": ("✗", "bad"), "doubtful": ("!", "warn"),
}  # fmt: skip
#: repairs of so many lists are printed
_LISTS = 50


def lists_table(trace: Trace, thread: str = "") -> Grid:
    """The message lists of a capture: where each stands, and how long it is. Telemetry's are left out."""
    rows = [
        [
            Cell(str(items.number)), Cell(items.place), cell(items.run.thread_id, mono=True), cell(items.run.run_id, mono=True),
            Cell(f"{len(items.messages):,}"), Cell(f"{len(items.calls):,}"),
        ]
        for items in _lists(trace, thread)
    ]  # fmt: skip
    columns = ["list", "place", "thread", "run", "messages", "calls"]
    return Grid(
        count(len(rows), "message list"),
        columns,
        rows,
        "no message list: no snapshot, request, payload or history",
    )


def _lists(trace: Trace, thread: str) -> Iterator[MessageList]:
    for conversation in trace.conversations:
        if not thread or thread in (conversation.thread_id, *conversation.thread_ids):
            yield from conversation.lists


def chosen(trace: Trace, thread: str = "", number: int | None = None) -> MessageList:
    """One list: by its number, else the last one. Raises `ValueError`, naming what there is, where it is not there."""
    there = list(_lists(trace, thread))
    if not there:
        threads = ", ".join(c.thread_id for c in trace.conversations if c.lists) or "none"
        raise ValueError(f"no message list in thread {thread!r}; threads with lists: {plain(threads, 300)}")
    found = [items for items in there if number is None or items.number == number]
    if not found:
        raise ValueError(f"no message list {number}; there are {there[0].number} to {there[-1].number}")
    return found[-1]


def verdict_table(trace: Trace, items: MessageList, repairs: Sequence[Repair] = ()) -> Grid:
    """One row per provider: its verdict on a list, the first offending item, and the words to expect.

    With `repairs` the verdicts are those on the list with the provider's own repair applied.
    """
    by_provider = {repair.provider: repair for repair in repairs}
    rows = []
    for provider, name in PROVIDERS.items():
        verdict, mended = _verdict(trace, items, provider), by_provider.get(provider)
        if verdict is None:
            continue
        if mended is None:
            told = [(r.rule.id, r.paths, r.error) for r in verdict.refusals]
            word = verdict.word
        else:
            told = [(u.rule, u.positions, u.error) for u in mended.unmended]
            word = "refused" if told else "accepted"
        symbol, tone = _WORDS[word]
        _, places, error = told[0] if told else ("", (), "")
        rows.append(
            [
                Cell(name), Cell(word, symbol=symbol, tone=tone), Cell(", ".join(dict.fromkeys(rule for rule, _, _ in told))),
                cell(next(iter(places), ""), mono=True), cell(error, most=200),
            ]
        )  # fmt: skip
    state = " repaired" if repairs else ""
    caption = f"List {items.number}{state} ({items.place}, {count(len(items.messages), 'message')}) before each provider"
    return Grid(caption, ["provider", "verdict", "rules", "first item", "expect"], rows)


def _verdict(trace: Trace, items: MessageList, provider: str) -> Verdict | None:
    return next((v for v in verdicts(trace, provider) if v.items is items), None)


def repairs_of(trace: Trace, items: MessageList) -> Repairs:
    """What would make each provider accept a list: one repair for each that refuses it."""
    refused = [v for p in PROVIDERS if (v := _verdict(trace, items, p)) is not None and wanting(v)]
    return Repairs([made for verdict in refused if (made := repair_of(trace, verdict)) is not None])


def repairs_table(repairs: Sequence[Repair], caption: str = "") -> Grid:
    """One row per suggestion, and per refusal that has no honest repair."""
    rows = [row for repair in repairs for row in _rows(repair)]
    suggested = sum(len(r.suggestions) for r in repairs)
    columns = ["provider", "rule", "what to do", "was", "becomes", "why"]
    return Grid(caption or count(suggested, "suggestion"), columns, rows, "nothing to repair")


def _rows(repair: Repair) -> Iterator[list[Cell]]:
    for s in repair.suggestions:
        mark = (
            Cell("placeholder", symbol="?", tone="warn", note=_raw(s.becomes))
            if s.placeholder
            else _value(s.becomes)
        )
        yield [
            Cell(repair.provider),
            Cell(s.rule),
            cell(str(s), mono=True, most=200),
            _value(s.was),
            mark,
            cell(s.why, most=300),
        ]
    for left in repair.unmended:
        none = Cell(
            "no honest repair", symbol="✗", tone="bad", note=plain(next(iter(left.positions), ""), 200)
        )
        yield [Cell(repair.provider), Cell(left.rule), none, Cell(""), Cell(""), cell(left.why, most=300)]


def _value(value: Any) -> Cell:
    return Cell("") if value is None else cell(_raw(value), mono=True, most=_RAW)


def _raw(value: Any) -> str:
    if value is None:
        return ""
    try:
        return plain(msgspec.json.encode(value).decode(), 2000)
    except (TypeError, ValueError, RecursionError):
        return plain(str(value), 2000)


def before_and_after(repair: Repair) -> Grid:
    """The messages of a list as they are, and as they would be: what stays, goes, comes, moves and changes."""
    items = listed(repair.document, repair.within) or []
    known = [f"{repair.within}[{n}]" for n in range(len(items))]
    made = edited(items, repair.suggestions, repair.within, known)
    came_from = {path: n for n, path in enumerate(known)}
    origins = [came_from.get(made.origins.get(id(m), "")) for m in made.items]
    carried = {
        came_from[s.position] for s in repair.suggestions if s.action == "move" and s.position in came_from
    }
    one, two = _Told(repair, items), _Told(repair, made.items)
    rows: list[list[Cell]] = []
    for old, new, moved in _aligned(len(items), origins, carried):
        same = old is not None and new is not None and one.raw[old] == two.raw[new]
        said, symbol, tone = (
            ("gone", "−", "bad") if new is None else ("new", "+", "good") if old is None
            else ("moved", "↕", "info") if moved else ("", "", "") if same else ("changed", "~", "warn")
        )  # fmt: skip
        rows.append([one.cell(old), Cell(said, symbol=symbol, tone=tone), two.cell(new)])
    caption = f"{PROVIDERS[repair.provider]}: {count(len(items), 'message')} before, {count(len(made.items), 'message')} after"
    return Grid(caption, ["before", "", "after"], rows, "nothing")


def _aligned(
    before: int, origins: list[int | None], carried: set[int]
) -> Iterator[tuple[int | None, int | None, bool]]:
    """Messages beside what becomes of them, and whether they were carried elsewhere; those that stay keep their order."""
    kept = set(origins)
    at = 0
    for new, old in enumerate(origins):
        if old is None or old in carried:
            yield old, new, old is not None
            continue
        yield from ((n, None, False) for n in range(at, old) if n not in kept)
        yield old, new, False
        at = old + 1
    yield from ((n, None, False) for n in range(at, before) if n not in kept)


class _Told:
    """The messages of a document, raw and in words."""

    def __init__(self, repair: Repair, items: list[Any]) -> None:
        self.raw = [_raw(m) for m in items]
        self._turns = {turn.path: turn for turn in read_as(repair.dialect, items, repair.within).turns}
        self._within = repair.within

    def cell(self, n: int | None) -> Cell:
        """One message in words, with the whole of it as the tooltip."""
        if n is None:
            return Cell("")
        turn = self._turns.get(f"{self._within}[{n}]")
        words = "; ".join(map(_block, turn.blocks)) if turn is not None else self.raw[n]
        shown = cell(f"{n}  {turn.role}: {words}" if turn is not None else f"{n}  {words}", most=_RAW)
        return Cell(shown.text, full=self.raw[n])


def _block(block: Block) -> str:
    own = plain(block.call_id, 80) if not block.call_id.startswith(MADE_UP) else ""
    if block.kind == "call":
        return f"calls {plain(block.name, 60)} ({own})" if own else f"calls {plain(block.name, 60)}"
    said = f"“{plain(text_of(block.content), 60)}”"
    if block.kind == "result":
        return f"result of {own}: {said}" if own else f"result: {said}"
    return said if block.kind == "text" else f"{block.kind} {plain(block.approval_id or own, 80)}".rstrip()


def print_repairs(out: Console, repairs: Repairs) -> None:
    """Print the repairs, one or two lines each; those that several lists share are told once, with the last list."""
    from rich.text import Text

    if not len(repairs):
        out.print(Text("Nothing to repair: no list would be refused.", style="green"))
        return
    told: dict[tuple[Any, ...], list[Repair]] = {}
    for repair in repairs:
        key = (
            repair.provider,
            repair.thread_id,
            *map(line, repair.suggestions),
            *(u.error for u in repair.unmended),
        )
        told.setdefault(key, []).append(repair)
    for same in list(told.values())[:_LISTS]:
        repair = same[-1]
        run = f" of run {plain(repair.run_id, 60)}" if repair.run_id else ""
        more = f", and {count(len(same) - 1, 'list')} before it" if len(same) > 1 else ""
        out.print(
            Text(
                f"{PROVIDERS[repair.provider]}: repair of the {repair.place}{run} (list {repair.list}){more}",
                style="bold",
            ),
            soft_wrap=True,
        )
        for s in repair.suggestions:
            out.print(Text(f"  {s.rule}  {line(s)}", style="yellow" if s.placeholder else ""), soft_wrap=True)
            out.print(Text(f"       {plain(s.why, 400)}", style="dim"), soft_wrap=True)
        for left in repair.unmended:
            out.print(
                Text(f"  {left.rule}  no honest repair: {plain(left.why, 400)}", style="red"), soft_wrap=True
            )
    if len(told) > _LISTS:
        out.print(
            Text(
                f"and {count(len(told) - _LISTS, 'repair')} more: wb.repair_suggestions(trace).frame",
                style="dim",
            )
        )


def line(suggestion: Suggestion) -> str:
    """A suggestion in one line: what to do where, and what becomes of it."""
    s = suggestion
    change = {"rename": f": {_raw(s.was)} → {_raw(s.becomes)}", "replace": f": {_raw(s.was)} → {_raw(s.becomes)}"}.get(
        s.action, f": {_raw(s.becomes)}" if s.action == "insert" else f": {_raw(s.was)}" if s.action == "drop" else ""
    )  # fmt: skip
    mark = "placeholder: " if s.placeholder else ""
    return f"{mark}{plain(str(s), 300)}{plain(change, 2 * _RAW)}"


def to_dict(repairs: Repairs) -> list[dict[str, Any]]:
    """Repairs as plain data, as in the JSON of `workbench check --repair`."""
    keys = (
        "rule",
        "severity",
        "action",
        "position",
        "at",
        "target",
        "side",
        "was",
        "becomes",
        "placeholder",
        "call_id",
        "why",
    )
    return [
        {
            "provider": r.provider, "list": r.list, "place": r.place, "thread_id": r.thread_id, "run_id": r.run_id,
            "suggestions": [{key: getattr(s, key) for key in keys} for s in r.suggestions],
            "unmended": [
                {"rule": u.rule, "severity": u.severity, "error": u.error, "positions": list(u.positions),
                 "call_ids": list(u.call_ids), "why": u.why}
                for u in r.unmended
            ],
        }
        for r in repairs
    ]  # fmt: skip
