"""`workbench check --repair`: what would make the providers accept what they refuse. Nothing is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from workbench.findings import Findings
    from workbench.providers.repair import Repairs


def wanted(found: Findings, provider: str, *, thread: str = "", call: str = "") -> Repairs:
    """The repairs for a provider, or for each payload's own, of one thread, and that are about one call."""
    from workbench.providers.repair import Repairs, repair_suggestions
    from workbench.report import narrow

    items = list(repair_suggestions(found.trace, provider))
    if thread:
        threads = {i for c in narrow.conversations(found.trace, thread) for i in (c.thread_id, *c.thread_ids)}
        items = [r for r in items if r.thread_id in threads]
    ids = narrow.ids_of(found.trace, call, thread)
    if ids:
        items = [
            r for r in items
            if ids & {*(s.call_id for s in r.suggestions), *(i for u in r.unmended for i in u.call_ids)}
        ]  # fmt: skip
    return Repairs(items)


def show(out: Console, found: Findings, repairs: Repairs | None) -> None:
    """Print the repairs; where nobody asked for them, say that there are some to ask for."""
    if repairs is not None:
        from workbench.report.histories import print_repairs

        out.print()
        print_repairs(out, repairs)
    elif any(f.rule == "provider-rejects" for f in found):
        from rich.text import Text

        out.print(
            Text("What would make the provider accept it: the same command with --repair.", style="dim")
        )


def data(repairs: Repairs | None) -> dict[str, Any]:
    """The key `repairs` of the JSON."""
    if repairs is None:
        return {}
    from workbench.report.histories import to_dict

    return {"repairs": to_dict(repairs)}


def markdown(repairs: Repairs | None) -> str:
    """A section with the repairs as a table."""
    if repairs is None:
        return ""
    from workbench.report.histories import repairs_table

    return f"\n## Repairs\n\n{repairs_table(repairs, 'Suggestions').to_markdown()}"
