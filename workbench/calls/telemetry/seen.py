"""What telemetry has shown of each call so far, by what it is looked up by: thousands of spans cost no search."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from workbench.calls.arguments import canonical
from workbench.calls.conversation import Call, Result, Run
from workbench.calls.telemetry.execution import Execution
from workbench.readers.records import Records

#: Spans above a span that are looked at for another view of the same execution
_ABOVE = 20
#: Executions of one call in one trace whose times are compared with those of a further span, the latest first
_LATEST = 64


class SeenCall:
    """The executions and results of one call."""

    def __init__(self, call: Call, records: Records) -> None:
        self.call = call
        self.records = records
        #: executions that are no view of another one: by row, by the rows above them, and by trace
        self._by_row: dict[int, tuple[int, Execution]] = {}
        self._below: dict[int, tuple[int, Execution]] = {}
        self._by_trace: dict[str, list[tuple[int, Execution]]] = {}
        #: the first run that carried it out, and whether another one did
        self._ran_in: Run | None = None
        self._ran_again = False
        #: first arguments of an execution and of a message, and how many of them were looked at
        self._carried_out: str | None = None
        self._asked: str | None = None
        self._looked_at = (0, 0)
        self._results: set[str] = set()
        self._failed = False
        self._counted = 0
        for execution in call.executions:
            self._remember(execution)

    # -------------------------------------------------------------- executions

    def add(self, made: Execution) -> None:
        """One more execution; a second view of one that is known is marked as such."""
        above = self._above(made)
        found = [entry for row in above if (entry := self._by_row.get(row)) is not None]
        if made.at.kind == "span" and (entry := self._below.get(made.at.row)) is not None:
            found.append(entry)
        found += self._at_once(made)
        made.nested = min(found, key=lambda entry: entry[0])[1] if found else None
        self.call.executions.append(made)
        self._remember(made, above)

    def _remember(self, made: Execution, above: list[int] | None = None) -> None:
        if made.ran:
            if self._ran_in is None:
                self._ran_in = made.run
            elif self._ran_in is not made.run:
                self._ran_again = True
        if made.nested is not None or made.at.kind != "span":
            return
        traced = self._by_trace.setdefault(made.trace, [])
        entry = (len(self._by_row), made)
        traced.append(entry)
        self._by_row[made.at.row] = entry
        for row in self._above(made) if above is None else above:
            self._below.setdefault(row, entry)

    def _above(self, made: Execution) -> list[int]:
        """Rows of the spans that the span of an execution is inside of."""
        spans, rows = self.records.spans, self.records.span_rows
        found: list[int] = []
        here: int | None = made.at.row if made.at.kind == "span" else None
        while here is not None and len(found) < _ABOVE:
            parent = spans.parent[here]
            here = rows.get(f"{made.trace} {parent}") if parent else None
            if here is not None:
                found.append(here)
        return found

    def _at_once(self, made: Execution) -> Iterable[tuple[int, Execution]]:
        """Executions at the same time that another instrumentation recorded."""
        if made.at.kind != "span" or made.start is None or made.end is None:
            return
        scopes = self.records.spans.scope
        scope = scopes[made.at.row]
        for entry in self._by_trace.get(made.trace, ())[-_LATEST:]:
            first = entry[1]
            if first.start is None or first.end is None or scopes[first.at.row] == scope:
                continue
            if first.start < made.end and made.start < first.end:
                yield entry

    def ran_elsewhere(self, run: Run) -> bool:
        """Another run carried it out."""
        return self._ran_again or self._ran_in not in (None, run)

    def like(self, made: Execution) -> bool:
        """Tool and arguments do not speak against an execution."""
        if self.call.tool and made.tool and self.call.tool != made.tool:
            return False
        ours = self._known_arguments()
        return ours is None or made.arguments is None or ours == canonical(made.arguments)

    def _known_arguments(self) -> str | None:
        """The first arguments that an execution, or else a message, shows, in canonical form."""
        executions, told = self.call.executions, self.call.told
        done, read = self._looked_at
        self._looked_at = len(executions), len(told)
        if self._carried_out is None:
            shown = next((e.arguments for e in executions[done:] if e.arguments), None)
            self._carried_out = None if shown is None else canonical(shown)
        if self._carried_out is None and self._asked is None:
            self._asked = _listed_arguments(self.call, read)
        return self._asked if self._carried_out is None else self._carried_out

    # -------------------------------------------------------------- results

    def result(self, result: Result, target: list[Result]) -> None:
        """Add a result to those of the call unless it says again what one of them says."""
        for other in target[self._counted :]:
            self._count(other)
        self._counted = len(target)
        if target:
            first = target[0]
            if not result.content or _form(result.content) in self._results:
                return
            if not first.content:
                # the span of the tool without content came first
                first.content, first.cls = result.content, result.cls
                self._count(first)
                return
            if result.cls == "error" and self._failed:
                return  # an exception, and what the model is told of it
        target.append(result)
        self._count(result)
        self._counted = len(target)

    def _count(self, result: Result) -> None:
        self._results.add(_form(result.content))
        self._failed = self._failed or result.cls == "error"


class Occurrences:
    """The occurrences of one id, in order; the list grows elsewhere."""

    def __init__(self, calls: list[Call]) -> None:
        self._calls = calls
        self._numbers: list[int] = []
        self._in_order = True

    def until(self, run: Run) -> Call:
        """The last one that was seen up to a run, else the first."""
        for call in self._calls[len(self._numbers) :]:
            number = call.run.number
            self._in_order = self._in_order and (not self._numbers or self._numbers[-1] <= number)
            self._numbers.append(number)
        if self._in_order:
            return self._calls[max(0, bisect_right(self._numbers, run.number) - 1)]
        fitting = (c for c in reversed(self._calls) if c.run.number <= run.number)
        return next(fitting, self._calls[0])


class Waiting:
    """Calls that nobody carried out yet, by the tools and runs in which a span without a call id may mean them."""

    def __init__(self, calls: Iterable[Call]) -> None:
        self._of: dict[tuple[str, int], dict[str | None, dict[int, Call]]] = {}
        self._keys: dict[int, tuple[list[dict[str | None, dict[int, Call]]], str | None]] = {}
        for call in calls:
            if call.id and call.synthetic_for is None and not call.executions:
                self._add(call)

    def _add(self, call: Call) -> None:
        runs = {id(run): run for run in (call.run, *(items.run for items, _ in call.told))}
        # approved in it
        runs |= {id(answer.run): answer.run for approval in call.approvals for answer in approval.accepted}
        form = _listed_arguments(call)
        places = [self._of.setdefault((call.tool, run), {}) for run in runs]
        for place in places:
            place.setdefault(form, {})[id(call)] = call
        self._keys[id(call)] = places, form

    def remove(self, call: Call) -> None:
        """It was carried out."""
        places, form = self._keys.pop(id(call))
        for place in places:
            del place[form][id(call)]
            if not place[form]:
                del place[form]

    def fits(self, made: Execution) -> tuple[Call | None, bool]:
        """A call that an execution fits, and whether it fits others too."""
        by_form = self._of.get((made.tool, id(made.run)), {})
        if made.arguments is None:
            groups = list(by_form.values())
        else:
            groups = [by_form[form] for form in (None, canonical(made.arguments)) if form in by_form]
        first = next(iter(groups[0].values())) if groups else None
        return first, sum(map(len, groups)) > 1


def _listed_arguments(call: Call, begin: int = 0) -> str | None:
    """The first arguments that a message shows, in canonical form."""
    shown = (entry.part.arguments for _, entry in call.told[begin:] if entry.part.arguments)
    return next((canonical(text) for text in shown), None)


def _form(text: str) -> str:
    """Equal for texts that say the same."""
    text = text.strip()
    return canonical(text) if text[:1] in ("{", "[", '"') else text
