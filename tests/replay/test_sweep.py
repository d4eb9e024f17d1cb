"""Sweeps and bisections on a made-up engine, and one live over three releases."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import workbench as wb
from workbench.cli import app
from workbench.replay import bisect as bisecting
from workbench.replay import releases as asking
from workbench.replay import sweep as sweeping
from workbench.replay import tables
from workbench.replay.engine import releases
from workbench.replay.engine.errors import BuildError, ReplayError
from workbench.replay.scenarios import names
from workbench.replay.sweep import LOOKS, Sweep, Variant, stored

NAME = "duplicate-tool-call-start"
FOUR = ["1.0.0", "1.0.1", "1.1.0", "1.2.0"]


def made(*words: str, control: str = "clean") -> Sweep:
    """A sweep of one variant and a control, with these outcomes."""
    rows = []
    for release, word in zip(FOUR, words, strict=True):
        for variant, outcome in (("plain", word), ("fixed", control)):
            rules = ["call-unanswered"] if outcome == "other fault" else []
            rows.append({"release": release, "date": "2026-07-23", "variant": variant, "outcome": outcome,
                         "rules": rules, "executions": 0, "questions": 0, "refusals": [], "why": "uv says no"})  # fmt: skip
    return Sweep(NAME, [Variant("plain"), Variant("fixed", control=True)], rows, "2026-12-01")


@pytest.mark.parametrize(
    ("words", "affected", "fixed", "said"),
    [
        (("clean", "affected", "affected", "clean"), ("1.0.1", "1.1.0"), "1.2.0", "First affected: agent-framework-ag-ui 1.0.1 (1.0.0 is not)."),
        (("affected", "affected", "affected", "affected"), tuple(FOUR), "", "Not fixed: 1.2.0, the latest that can tell, is affected."),
        (("not applicable", "affected", "other fault", "clean"), ("1.0.1",), "1.1.0", "Residue: other faults remain on 1.1.0; clean since 1.2.0."),
        (("affected", "clean", "affected", "clean"), ("1.0.0", "1.1.0"), "1.2.0", "In between it does not show on 1.0.1."),
        (("clean", "clean", "clean", "clean"), (), "", "No release of agent-framework-ag-ui is affected: not affected on 1.0.0 to 1.2.0."),
        (("not applicable",) * 4, (), "", "no release can tell"),
        (("affected", "refused to install", "clean", "clean"), ("1.0.0",), "1.1.0", "all variants: refused to install: uv says no on 1.0.1."),
        (("clean", "other fault", "clean", "clean"), (), "", "plain: other fault (call-unanswered) on 1.0.1."),
    ],
)  # fmt: skip
def test_boundaries_are_told_in_words(words, affected, fixed, said):
    swept = made(*words)
    assert (swept.span.affected, swept.span.fixed) == (affected, fixed)
    assert said in "\n".join(swept.words)


def test_a_control_does_not_count_as_affected():
    assert made("clean", "clean", "clean", "clean", control="affected").span.affected == ()


def test_a_sweep_survives_being_written_down():
    swept = made("clean", "affected", "other fault", "clean")
    again = Sweep.of(json.loads(json.dumps(swept.to_dict())))
    assert again.words == swept.words
    assert again.frame.equals(swept.frame)


def test_it_shows_itself():
    swept = made("clean", "affected", "other fault", "clean")
    bundle = swept._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert "✗ affected" in bundle["text/plain"]
    figure = swept.figure()
    order = list(LOOKS)
    assert [[order[cell] for cell in line] for line in figure.data[0].z] == [
        [word, "clean"] for word in ("clean", "affected", "other fault", "clean")
    ]
    assert len(swept.frame) == 8


def test_an_environment_that_cannot_be_built_is_a_row(monkeypatch):
    def run_all(arms, folder, **options):
        raise BuildError("No solution found when resolving dependencies")

    monkeypatch.setattr(sweeping, "run_all", run_all)
    told = []
    swept = wb.sweep(NAME, releases=["1.5.0", "1.0.0rc7"], progress=lambda *a: told.append(a))
    assert set(swept.frame["outcome"]) == {"refused to install"}
    assert set(swept.frame["why"]) == {"No solution found when resolving dependencies"}
    assert swept.releases == ["1.0.0rc7", "1.5.0"]
    assert [done for done, _, _ in told] == [1, 2]


def test_what_a_release_lacks_is_not_applicable_and_a_crash_is_not(monkeypatch):
    def run_all(arms, folder, **options):
        why = ["AttributeError: no FileAccessProvider", "patch x: not written for that", "not done after 1 s"]
        return {f"{arm.release}/{arm.label}": why[n % 3] for n, arm in enumerate(arms)}

    monkeypatch.setattr(sweeping, "run_all", run_all)
    words = wb.sweep(NAME, releases=["1.5.0"]).frame["outcome"].tolist()
    assert words[:3] == ["not applicable", "not applicable", "did not run"]


@pytest.mark.parametrize("first", range(1, 28))
def test_bisect_finds_every_boundary_in_few_environments(first):
    everything = [str(number) for number in range(28)]
    found = bisecting.search(
        everything, "27", "0", lambda release: "affected" if int(release) < first else "clean"
    )
    assert (found.last, found.first) == (str(first - 1), str(first))
    assert len(found.asked) <= 7


def test_bisect_passes_over_what_cannot_tell():
    words = {
        "0": "clean",
        "1": "clean",
        "2": "refused to install",
        "3": "not applicable",
        "4": "affected",
        "5": "affected",
    }
    found = bisecting.search(list(words), "0", "5", words.__getitem__)
    assert (found.last, found.first, found.between) == ("1", "4", ("2", "3"))
    assert "2, 3 cannot tell" in found.words


@pytest.mark.parametrize(
    ("good", "bad", "said"), [("0", "1", "1 is clean, not affected"), ("2", "2", "no good end")]
)
def test_bisect_says_which_end_is_wrong(good, bad, said):
    with pytest.raises(ReplayError, match=said):
        bisecting.search(
            ["0", "1", "2"], good, bad, {"0": "clean", "1": "clean", "2": "affected"}.__getitem__
        )


def test_the_registry_is_asked_through_its_clients(monkeypatch):
    """Versions by pip; times and what fits by uv. A release without anything that fits is left out."""
    lines = {"9.1": "2026-11-05T10:00:00Z", "9.0": "2026-11-02T10:00:00Z", "0.1": "2025-01-01T10:00:00Z"}
    asked = []

    def run(*arguments):
        text = arguments[-1].read_text()
        asked.append(arguments)
        version = text.split("==")[1].split()[0]
        if "pylock.toml" in arguments:
            return f"wheels = [{{ upload-time = {lines[version]}, size = 1 }}]"
        if version == "9.1":
            raise BuildError("No solution found")
        assert "--exclude-newer" in arguments
        return text.split()[0] + "".join(f"\n{name}==7" for name in text.split()[1:])

    monkeypatch.setattr(asking.uv, "versions", lambda _: list(lines))
    monkeypatch.setattr(asking.uv, "run", run)
    rows = asking.refreshed(releases.LEADING)
    assert list(rows) == ["9.0"]
    assert rows["9.0"]["date"] == "2026-11-02"
    assert rows["9.0"]["agent-framework-core"] == "7"
    assert any("2026-11-02T16" in str(part) for arguments in asked for part in arguments)


def test_the_rows_are_written_as_they_are_read():
    assert asking._written(releases.families()) == releases.DATA.read_text(encoding="utf-8")


def test_releases_are_in_the_order_of_their_days():
    for family, rows in releases.families().items():
        days = [row["date"] for row in rows.values() if "date" in row]
        assert days == sorted(days), family


def test_the_page_is_that_of_the_stored_sweeps(root):
    kept = [one for name in names() if (one := stored(name))]
    assert len(kept) >= 2
    assert (root / "docs/sweeps.md").read_text(encoding="utf-8") == tables.page(kept)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sweep", "nothing"], "no replay is called 'nothing'"),
        (["sweep", NAME, "--release", "0.1"], "no release 0.1"),
        (["sweep", NAME, "-o", "x.txt"], "ends in .html, .json or .csv"),
        (["bisect", NAME, "--variant", "x"], "has no variant 'x'"),
        (["bisect", NAME, "--good", "0.1"], "no release 0.1"),
    ],
)
def test_what_cannot_be_is_said_with_exit_code_2(arguments, said):
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert said in done.stderr


def test_the_command_prints_and_writes(monkeypatch, tmp_path):
    monkeypatch.setattr(sweeping, "sweep", lambda *a, **k: made("clean", "affected", "affected", "clean"))
    for name, holds in (
        ("s.html", "plotly"),
        ("s.json", '"first_fixed": "1.2.0"'),
        ("s.csv", "1.0.1,2026-07-23,plain,affected"),
    ):
        done = CliRunner().invoke(app, ["sweep", NAME, "-o", str(tmp_path / name)])
        assert done.exit_code == 0, done.stderr
        assert "First fixed: 1.2.0" in done.stdout
        assert holds in (tmp_path / name).read_text(encoding="utf-8")


@pytest.mark.slow
def test_three_releases_live(environment):
    """What the stored sweep says is what these releases do."""
    three = ["1.0.0rc7", "1.0.1", "1.7.0"]
    for release in three:
        environment(release)
    swept = wb.sweep("provider-tool-approval", releases=three)
    kept = stored("provider-tool-approval")
    assert {key: word for key, word in kept._words.items() if key[0] in three} == swept._words
    assert swept.span.fixed == "1.0.1"
