"""The checkout is what it promises: a clean top level, no traces of a machine, documented commands."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

TOP_LEVEL = {
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "benchmarks",
    "docs",
    "notebooks",
    "pyproject.toml",
    "tests",
    "traces",
    "workbench",
}
# put together here, so that this file does not hold what it looks for
MACHINE = re.compile(
    "|".join(
        [
            r"(?<![\w.~/-])/(?:home|Users|root)/\w",
            r"(?<![\w./-])/work" + r"/\w",
            "shared" + r"/(?:cases|seeds|reference|formats|tools)\b",
            r"(?<!\w)\.lib" + r"rary\b",
            r"files\.python" + r"hosted\.org",
            r"\bpypi\." + r"org\b",
            r"\bnpm" + r"js\.(?:org|com)\b",
        ]
    )
)


@pytest.fixture(scope="module")
def files(root: Path) -> list[Path]:
    """Every file that is or could be committed."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [root / name for name in listed.stdout.split("\0") if name and (root / name).is_file()]


@pytest.fixture(scope="module")
def setup(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("workbench_setup", root / ".ci" / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def targets(root: Path) -> dict[str, str]:
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    return {
        name: rest for name, rest in re.findall(r"^([a-z]+):(.*)$", makefile, re.MULTILINE) if name != "ifeq"
    }


def test_top_level_holds_nothing_else(root: Path, files: list[Path]) -> None:
    top = {path.relative_to(root).parts[0] for path in files}
    assert {name for name in top if not name.startswith(".")} <= TOP_LEVEL


def test_no_file_names_a_machine_or_a_registry(root: Path, files: list[Path]) -> None:
    found = []
    for path in files:
        if path.is_relative_to(root / "tests" / "data" / "telemetry"):
            continue  # captures, whose code.file.path is that of a developer who was made up
        text = path.read_bytes().decode("utf-8", "replace")
        found += [f"{path.relative_to(root)}: {match.group()}" for match in MACHINE.finditer(text)]
    assert not found


def test_notebooks_are_committed_without_outputs(files: list[Path]) -> None:
    for path in files:
        if path.suffix == ".ipynb" and "notebooks" in path.parts:
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            code = [cell for cell in cells if cell["cell_type"] == "code"]
            assert not any(cell["outputs"] or cell["execution_count"] for cell in code), path.name


def test_help_documents_every_target(root: Path) -> None:
    shown = subprocess.run(["make", "help"], cwd=root, capture_output=True, text=True, check=True).stdout
    documented = set(re.findall(r"^make (\w+) +\S", shown, re.MULTILINE))
    assert documented == set(targets(root))
    phony = re.search(r"^\.PHONY: (.*)$", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert phony is not None
    assert set(phony.group(1).split()) == documented


def test_make_commands_of_the_documents_exist(root: Path) -> None:
    known = targets(root)
    for name in ("README.md", "CONTRIBUTING.md", *(str(p.relative_to(root)) for p in root.glob("docs/*.md"))):
        path = root / name
        if not path.exists():
            continue
        fences = re.findall(
            r"^```[^\n]*\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        )
        used = [word for fence in fences for word in re.findall(r"^\s*\$?\s*make (\w+)", fence, re.MULTILINE)]
        assert not [word for word in used if word not in known], name


def test_ci_runs_the_test_command(root: Path) -> None:
    script = root / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    assert script.read_text(encoding="utf-8").rstrip().endswith("exec make test")


def test_pins_are_exact_and_satisfy_the_project(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (root / ".ci" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9-]+==[\w.]+( ; .+)?", line) for line in pins)
    pinned = {line.partition("==")[0] for line in pins}
    asked = project["dependencies"] + [
        n for extra in project["optional-dependencies"].values() for n in extra
    ]
    names = {re.split(r"[<>=~!;\[ ]", need)[0].lower().replace("_", "-") for need in asked}
    assert names <= pinned


def test_imports_of_the_base_are_declared(root: Path) -> None:
    """Whatever the package imports is declared as a dependency or in an extra."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = project["dependencies"] + [
        need for name, extra in project["optional-dependencies"].items() if name != "dev" for need in extra
    ]
    declared = {re.split(r"[<>=~!;\[ ]", need)[0].lower().replace("_", "-") for need in asked}
    providers = importlib.metadata.packages_distributions()
    # pandas brings numpy; Jupyter brings the kernel's own parts
    implied = {"numpy": "pandas", "ipython": "ipykernel", "nbclient": "nbconvert", "traitlets": "ipykernel"}
    missing = set()
    for path in (root / "workbench").rglob("*.py"):
        if "guest" in path.parts:
            continue  # runs in a foreign environment, on what that has
        for name in re.findall(r"^\s*(?:from|import) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            owners = {owner.lower().replace("_", "-") for owner in providers.get(name, [])}
            owners = {implied.get(owner, owner) for owner in owners}
            if owners and not owners & (declared | {"agui-workbench"}):
                missing.add(f"{path.name}: {name}")
    assert not missing


def test_the_wheel_carries_captures_and_notebook(root: Path, files: list[Path], tmp_path: Path) -> None:
    """`sample:NAME` and `workbench notebook` work without a clone; tests stay at home."""
    source = tmp_path / "source"
    for path in files:
        copy = source / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=source, capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {f"workbench/traces/{path.name}" for path in (root / "traces").iterdir()}
    wanted |= {"workbench/py.typed", "workbench/notebooks/investigate.ipynb", "workbench/model.py"}
    assert wanted <= names
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"workbench"}


def test_pip_settings_reach_uv(setup: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_STRATEGY", "UV_FIND_LINKS", "UV_SYSTEM_CERTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    bundle = tmp_path / "ca.pem"
    bundle.touch()
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    settings = {
        "index-url": "https://mirror.example/simple",
        "extra-index-url": f"https://more.example/simple\n{wheels.as_uri()}\n{(tmp_path / 'gone').as_uri()}",
        "find-links": f"{wheels} {tmp_path / 'gone'}",
        "cert": str(bundle),
    }
    environment = setup.uv_environment(settings)
    assert environment["UV_DEFAULT_INDEX"] == "https://mirror.example/simple"
    assert environment["UV_INDEX"] == f"https://more.example/simple {wheels.as_uri()}"
    assert environment["UV_INDEX_STRATEGY"] == "unsafe-best-match"
    assert environment["UV_FIND_LINKS"] == str(wheels)
    assert environment["SSL_CERT_FILE"] == str(bundle)
    assert environment["UV_SYSTEM_CERTS"] == "1"
    assert environment["UV_PYTHON_DOWNLOADS"] == "never"


def test_what_is_set_for_uv_stays(setup: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://own.example/simple")
    environment = setup.uv_environment({"index-url": "https://mirror.example/simple"})
    assert environment["UV_DEFAULT_INDEX"] == "https://own.example/simple"


def test_no_pip_settings_leave_the_index_alone(setup: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    environment = setup.uv_environment({})
    assert not {"UV_DEFAULT_INDEX", "UV_INDEX", "UV_FIND_LINKS"} & set(environment)


def test_pip_environment_wins_over_install_over_global(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = (
        ":env:.index-url='https://c.example/simple'\n"
        "global.index-url='https://a.example/simple'\n"
        "global.find-links='one\\ntwo'\n"
        "install.find-links='three'\n"
        "install.index-url='https://b.example/simple'\n"
        "list.format='columns'\n"
    )
    done = subprocess.CompletedProcess([], 0, stdout=listed)
    monkeypatch.setattr(setup, "pip", lambda *_, **__: done)
    assert setup.pip_settings() == {"index-url": "https://c.example/simple", "find-links": "three"}


def test_make_says_what_python_it_needs(root: Path, tmp_path: Path) -> None:
    """Without a usable interpreter the message names what was tried; nothing is set up."""
    for name in ("Makefile", "pyproject.toml"):
        (tmp_path / name).write_bytes((root / name).read_bytes())
    (tmp_path / ".ci").mkdir()
    for name in ("requirements.txt", "setup.py"):
        (tmp_path / ".ci" / name).write_bytes((root / ".ci" / name).read_bytes())
    done = subprocess.run(["make", "setup", "PYTHON="], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert "Python 3.11 or later with pip is needed" in done.stderr
    assert not (tmp_path / ".venv").exists()
