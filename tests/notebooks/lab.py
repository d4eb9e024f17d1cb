"""JupyterLab for tests: a server of our own on the loopback interface, and a notebook opened in Chromium."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TOKEN = "lab-of-the-tests"


def notebook(*cells: str) -> dict[str, Any]:
    """A notebook with these cells and no outputs."""
    made = [
        {"cell_type": "code", "execution_count": None, "id": f"c{n}", "metadata": {}, "outputs": [], "source": source}
        for n, source in enumerate(cells)
    ]  # fmt: skip
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": made, "metadata": {"kernelspec": spec}, "nbformat": 4, "nbformat_minor": 5}


@contextlib.contextmanager
def server(folder: Path) -> Iterator[str]:
    """JupyterLab on `folder` with settings of its own; gives its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = folder / ".jupyter"
    environment = {
        **os.environ,
        **{f"JUPYTER_{name}_DIR": str(own / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")},
        "JUPYTERLAB_SETTINGS_DIR": str(own / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(own / "workspaces"),
    }
    _settings(own / "settings")
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}",
        f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}", "--allow-root",
    ]  # fmt: skip
    log = (folder / "lab.log").open("wb")
    process = subprocess.Popen(
        command, env=environment, cwd=folder, stdout=log, stderr=log, start_new_session=True
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(address, process, folder / "lab.log")
        yield address
    finally:
        # the session that this process leads holds the kernels too
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
        log.close()


def _settings(folder: Path) -> None:
    """No news, no question which kernel to use."""
    own = {
        "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
        "notebook-extension/tracker": {"autoStartDefaultKernel": True},
    }
    for name, values in own.items():
        path = folder / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(values), encoding="utf-8")


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 90
    while time.monotonic() < until:
        with contextlib.suppress(urllib.error.URLError, OSError):
            urllib.request.urlopen(f"{address}/api/status?token={TOKEN}", timeout=5).close()
            return
        if process.poll() is not None:
            break
        time.sleep(0.3)
    raise RuntimeError(
        f"JupyterLab did not start:\n{log.read_text(encoding='utf-8', errors='replace')[-4000:]}"
    )


def write(folder: Path, name: str, book: dict[str, Any]) -> Path:
    """Put a notebook into the folder."""
    path = folder / name
    path.write_text(json.dumps(book), encoding="utf-8")
    return path


def open_notebook(page: Any, address: str, name: str) -> None:
    """Show a notebook in Lab and wait until its first cell is there."""
    page.goto(f"{address}/lab/tree/{name}?token={TOKEN}&reset")
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=120_000)


def run_all(page: Any) -> None:
    """Run all cells from the menu, once the kernel is there."""
    page.wait_for_selector("text=/Python 3 .ipykernel. . Idle/", timeout=120_000)
    page.click("text=/^Run$/")
    page.click("text=/^Run All Cells$/")
