"""The `sources` of a notebook: one text or a list, found from wherever the notebook runs.

papermill's kernel runs in the caller's folder, JupyterLab's in the notebook's, and a list given
on a command line arrives as one string.
"""

from __future__ import annotations

import glob
import os
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

#: the checkout, or the folder that holds the installed package
_HOME = Path(__file__).resolve().parents[2]


def resolve(sources: Any, notebook: str | Path | None = None) -> list[Any]:
    """Make a list for `workbench.load` out of the parameter of a notebook.

    `sources` is a path, a JSON list or a YAML list in one string, or a list of anything that
    `load` takes. A relative path is looked for in the caller's folder, then beside the
    notebook, then in the repository; one that is nowhere stays as it is, and `load` says so.
    Raises `ValueError` for a text that begins like a list and is none.
    """
    folders = list(dict.fromkeys([Path.cwd(), *_notebook_folders(notebook), *_repositories()]))
    return [_found(item, folders) for item in _listed(sources)]


def absolute(sources: Iterable[str]) -> list[str]:
    """The same sources, named so that they are found from any folder.

    Raises `FileNotFoundError` for a path that is not there, `ValueError` for standard input.
    """
    named = []
    for source in sources:
        if source.startswith("sample:"):
            named.append(source)
            continue
        if source == "-":
            raise ValueError("standard input cannot be read again by a notebook: save it to a file first")
        path = os.path.abspath(os.path.expanduser(source))  # noqa: PTH100, PTH111 - keeps a glob as it is
        if not os.path.exists(path) and not glob.glob(path, recursive=True):  # noqa: PTH110, PTH207
            raise FileNotFoundError(f"no such file, folder or glob: {source}")
        named.append(path)
    return named


def _listed(sources: Any) -> list[Any]:
    if isinstance(sources, (list, tuple, set)):
        return list(sources)
    if not isinstance(sources, str):
        return [sources]
    text = textwrap.dedent(sources).strip()
    if not text.startswith(("[", "- ")) or os.path.exists(sources):  # noqa: PTH110 - a list may be too long for a path
        return [sources]
    import yaml

    try:
        # JSON lists are YAML lists; without a schema, 007 and yes stay texts
        items = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - BaseLoader makes texts only
    except (yaml.YAMLError, RecursionError):
        items = None
    if isinstance(items, list) and all(isinstance(item, str) for item in items):
        return items
    if glob.glob(text):  # noqa: PTH207 - [ab]*.sse is a glob, not a list
        return [sources]
    raise ValueError(f"sources is neither a path nor a list of paths in JSON or YAML: {text[:200]}")


def _found(item: Any, folders: Iterable[Path]) -> Any:
    if not isinstance(item, (str, Path)) or str(item) == "-" or str(item).startswith("sample:"):
        return item
    text = os.path.expanduser(str(item))  # noqa: PTH111 - a glob is no path
    if os.path.isabs(text):  # noqa: PTH117
        return text
    for folder in folders:
        candidate = os.path.join(folder, text)  # noqa: PTH118
        if os.path.exists(candidate) or glob.glob(candidate, recursive=True):  # noqa: PTH110, PTH207
            # as it was written where that works, so that findings show short paths
            return text if folder == Path.cwd() else candidate
    return item


def _notebook_folders(notebook: str | Path | None) -> list[Path]:
    if notebook is not None:
        return [Path(notebook).resolve().parent]
    # JupyterLab tells its kernels which notebook they run.
    session = os.environ.get("JPY_SESSION_NAME", "")
    folders = [Path(session).resolve().parent] if session.endswith(".ipynb") else []
    return [*folders, _HOME / "notebooks"]


def _repositories() -> list[Path]:
    here = [folder for folder in (Path.cwd(), *Path.cwd().parents) if (folder / ".git").exists()]
    return [*here[:1], *([_HOME] if (_HOME / "pyproject.toml").exists() else [])]
