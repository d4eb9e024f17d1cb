"""Run the investigation notebook and export it: `python -m workbench.report.run`, which is `make report`.

The HTML page is complete in itself: figures are inside, and it asks the network for nothing.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from workbench.exceptions import WorkbenchError
from workbench.report.notebook import template
from workbench.report.plain import lines
from workbench.report.sources import absolute, resolve


class RunFailedError(WorkbenchError):
    """The notebook did not run to its end; the message has the cell and its traceback."""


def run(
    notebook: str | Path | None = None,
    sources: Sequence[str] = (),
    *,
    parameters: Mapping[str, Any] | None = None,
    output: str | Path = "reports",
    progress: bool = False,
    title: str = "",
) -> tuple[Path, Path]:
    """Run a notebook and write it, executed, as notebook and as HTML page; returns both paths.

    The page's title is the notebook's first heading, where none is given.

    Without `notebook` it is the bundled one, without `sources` those of its parameters cell;
    `parameters` are others that its parameters cell declares.
    Raises `RunFailedError` where a cell fails or the kernel dies (the executed part is written all
    the same), and `FileNotFoundError` for a source that is not there.
    """
    import papermill

    book = Path(notebook) if notebook is not None else template()
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    executed = folder / f"{book.stem}.ipynb"
    if executed.resolve() == book.resolve():
        raise RunFailedError(f"{executed} would replace the notebook itself: choose another output folder")
    given = {**(parameters or {}), **({"sources": absolute(sources)} if sources else {})}
    with _own_kernel():
        try:
            papermill.execute_notebook(
                str(book), str(executed), parameters=given, kernel_name="python3",
                progress_bar=progress, log_output=False,
            )  # fmt: skip
        except Exception as error:
            raise RunFailedError(_told(error, executed)) from error
    _judge(executed)
    return executed, export(executed, title=title or heading(executed))


def export(executed: str | Path, *, title: str = "What became of every tool call") -> Path:
    """Write an executed notebook as an HTML page beside it; nothing in it asks the network."""
    import nbformat
    from nbconvert import HTMLExporter

    path = Path(executed)
    make: Any = HTMLExporter
    read: Any = nbformat.read
    exporter = make(
        require_js_url="", jquery_url="", mathjax_url="", mermaid_js_url="", jupyter_widgets_base_url=""
    )
    page, _ = exporter.from_notebook_node(read(path, as_version=4), resources={"metadata": {"name": title}})
    target = path.with_suffix(".html")
    target.write_text(page, encoding="utf-8")
    return target


def heading(book: str | Path) -> str:
    """The first heading of a notebook; its file name where it has none."""
    path = Path(book)
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown" and "".join(cell["source"]).startswith("# "):
            return "".join(cell["source"]).split("\n")[0][2:]
    return path.stem


@contextmanager
def _own_kernel() -> Iterator[None]:
    """Make `python3` mean this interpreter, whatever kernels are installed or missing."""
    before = os.environ.get("JUPYTER_PATH")
    with tempfile.TemporaryDirectory(prefix="workbench-kernel-") as folder:
        spec = Path(folder) / "kernels" / "python3"
        spec.mkdir(parents=True)
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=40"]
        described = {"argv": command, "display_name": "Python 3", "language": "python"}
        (spec / "kernel.json").write_text(json.dumps(described), encoding="utf-8")
        os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, (folder, before)))
        try:
            yield
        finally:
            if before is None:
                del os.environ["JUPYTER_PATH"]
            else:
                os.environ["JUPYTER_PATH"] = before


def _told(error: Exception, executed: Path) -> str:
    """The failed cell with its traceback, or what else stopped the run."""
    trace = getattr(error, "traceback", None)
    if not trace:
        return f"{type(error).__name__}: {error} (executed up to there: {executed})"
    cell = getattr(error, "exec_count", None) or getattr(error, "cell_index", "?")
    text = "\n".join(trace) if isinstance(trace, list) else str(trace)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", text)
    source = getattr(error, "source", "")
    return f"cell {cell} failed: {error.ename}: {error.evalue}\n{source}\n\n{shown}"  # type: ignore[attr-defined]


def _judge(executed: Path) -> None:
    """Do not believe a run by its marks: a kernel that died leaves cells without a count."""
    book: dict[str, Any] = json.loads(executed.read_text(encoding="utf-8"))
    for number, cell in enumerate(book["cells"]):
        if (
            cell["cell_type"] == "code"
            and "".join(cell["source"]).strip()
            and cell["execution_count"] is None
        ):
            raise RunFailedError(
                f"cell {number} was not executed: the kernel died\n{''.join(cell['source'])}"
            )


def declared(book: dict[str, Any]) -> dict[str, Any]:
    """The parameters that a notebook ran with: literals of its parameters cells, the injected ones last."""
    told: dict[str, Any] = {}
    for tag in ("parameters", "injected-parameters"):
        for cell in book["cells"]:
            if cell["cell_type"] != "code" or tag not in cell["metadata"].get("tags", ()):
                continue
            for statement in ast.parse("".join(cell["source"])).body:
                if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                    with suppress(ValueError):
                        told[statement.targets[0].id] = ast.literal_eval(statement.value)
    return told


def _print_findings(executed: Path, notebook: Path | None) -> None:
    """Print the findings of what the notebook was run on; nothing for a notebook without `sources`."""
    from workbench.report import text
    from workbench.report.narrow import narrowed
    from workbench.rules import check
    from workbench.trace import load

    given = declared(json.loads(executed.read_text(encoding="utf-8")))
    if "sources" not in given:
        return
    trace = load(*resolve(given["sources"], notebook))
    narrow = {name: str(given.get(name) or "") for name in ("thread", "call_id")}
    found = narrowed(check(trace), **narrow, severity=str(given.get("severity") or "info"))
    text.findings_table(text.console(), found)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; 0 for a run, 1 for a failed one, 2 for usage."""
    parser = argparse.ArgumentParser(prog="python -m workbench.report.run", description=__doc__)
    parser.add_argument("notebook", nargs="?", help="notebook to run; the bundled one by default")
    parser.add_argument("--sources", nargs="+", default=[], metavar="PATH", help="captures to investigate")
    parser.add_argument("-o", "--output", default="reports", metavar="FOLDER", help="folder to write to")
    given = parser.parse_args(arguments)
    sources, spooled = _with_input(given.sources, Path(given.output))
    try:
        executed, page = run(given.notebook, sources, output=given.output, progress=sys.stderr.isatty())
    except RunFailedError as error:
        sys.stderr.write(lines(str(error)) + "\n")
        return 1
    except (OSError, ValueError) as error:
        sys.stderr.write(lines(str(error)) + "\n")
        return 2
    _print_findings(executed, Path(given.notebook) if given.notebook else None)
    sys.stdout.write(f"\n{executed}\n{page}\n")
    if spooled:
        sys.stderr.write(f"Standard input was kept as {spooled}.\n")
    return 0


def _with_input(sources: list[str], folder: Path) -> tuple[list[str], Path | None]:
    """The sources, with standard input kept in a file, because the kernel has none."""
    if "-" not in sources:
        return sources, None
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "standard-input"
    kept.write_bytes(sys.stdin.buffer.read())
    return [str(kept) if source == "-" else source for source in sources], kept


if __name__ == "__main__":
    sys.exit(main())
