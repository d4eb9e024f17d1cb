"""The live form of the explorer: an anywidget that passes questions and answers. Imported only when shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from workbench.views.explorer.session import Session
from workbench.views.theme import DARK, LIGHT

_HERE = Path(__file__).parent


def css() -> str:
    """The style sheet, with the colours of the pictures; JupyterLab's theme goes before the system's."""
    light, dark = (";".join(f"--wb-{k}:{v}" for k, v in colours.items()) for colours in (LIGHT, DARK))
    return (
        f".wb-explorer{{{light}}}"
        f"[data-jp-theme-light=false] .wb-explorer{{{dark}}}"
        f"@media (prefers-color-scheme:dark){{body:not([data-jp-theme-light]) .wb-explorer{{{dark}}}}}\n"
        + (_HERE / "explorer.css").read_text(encoding="utf-8")
    )


class ExplorerWidget(anywidget.AnyWidget):
    """Answers what its page asks. Questions come as messages with a number, answers carry the same number."""

    _esm = (_HERE / "explorer.js").read_text(encoding="utf-8")
    _css = css()
    start = traitlets.Dict().tag(sync=True)

    def __init__(self, session: Session) -> None:
        super().__init__(start=session.start())
        self._session = session
        self.on_msg(self._answer)

    def _answer(self, _: Any, question: Any, __: Any) -> None:
        number = question.get("id") if isinstance(question, dict) else None
        try:
            answer = self._session.answer(question)
        except Exception as error:  # noqa: BLE001  # an unanswered question would leave the page waiting
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        self.send({**answer, "id": number})
