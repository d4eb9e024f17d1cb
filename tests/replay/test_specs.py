"""Arms, options and parameters: what they make of a scenario, and what they say about what is not there."""

from __future__ import annotations

import pytest

from workbench.replay import parameters, patches, specs
from workbench.replay.engine.errors import ReplayError
from workbench.replay.scenarios import names, scenario

NAME = "provider-tool-approval"


def test_both_bugs_are_there():
    assert {"provider-tool-approval", "duplicate-tool-call-start"} <= set(names())


@pytest.mark.parametrize("name", names())
def test_every_arm_and_option_makes_a_spec(name):
    declared = scenario(name)
    for arm in declared["arms"]:
        for axis, values in declared["options"].items():
            for value in values:
                made = specs.spec(specs.arm(name, arm=arm, options={axis: value}))
                assert made["steps"]
                assert made["model"]["answers"]


def test_options_change_what_they_name_and_nothing_else():
    base = specs.spec(specs.arm(NAME))
    harness = specs.spec(specs.arm(NAME, options={"agent": "harness", "form": "resume"}))
    assert harness["agent"]["kind"] == "harness"
    assert [step.get("form") for step in harness["steps"]] == [None, "resume", "resume"]
    assert harness["model"] == base["model"]
    own = specs.spec(specs.arm(NAME, options={"provider": "own"}))
    assert [tool["name"] for tool in own["tools"]] == ["list_topics", "file_access_write"]
    assert [tool["name"] for tool in specs.spec(specs.arm(NAME))["tools"]] == ["list_topics"]


def test_defaults_are_no_options():
    assert specs.arm(NAME, options={"agent": "plain", "model": "chat"}) == specs.arm(NAME)
    assert specs.arm(NAME, options={"agent": "harness"}).label == "unpatched,agent=harness"


def test_patches_can_be_named_or_given_as_files(tmp_path):
    own = tmp_path / "mine.py"
    own.write_text("def apply(tools): pass\n")
    arm = specs.arm(NAME, patches=["gather-provider-tools", str(own)])
    assert [path.rpartition("/")[2] for path in specs.spec(arm)["patches"]] == [
        "gather_provider_tools.py",
        "mine.py",
    ]
    assert arm.label == "gather-provider-tools+mine"


@pytest.mark.parametrize("name", patches.names())
def test_every_patch_says_what_it_does(name):
    told = patches.described(name)
    assert all(told.values()), told


def test_every_patch_is_part_of_an_arm():
    used = {patch for name in names() for arm in scenario(name)["arms"].values() for patch in arm["patches"]}
    assert used == set(patches.names())


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"arm": "option-9"}, "there are: unpatched, option-1"),
        ({"options": {"agents": "plain"}}, "there are: agent, provider"),
        ({"options": {"agent": "big"}}, "one of: plain, no-static-tools"),
        ({"patches": ["nothing"]}, "there are: answer-dangling-calls"),
    ],
)
def test_what_is_not_there_is_said_with_what_is(asked, said):
    with pytest.raises(ReplayError, match=said):
        specs.spec(specs.arm(NAME, **asked))


def test_an_unknown_replay():
    with pytest.raises(ReplayError, match="there are: agent-spec-multi-turn"):
        specs.arm("nothing")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (["1.5.0"], ["1.5.0"]),
        ("1.5.0", ["1.5.0"]),
        ("['1.5.0', '1.7.0']", ["1.5.0", "1.7.0"]),
        ("[1.5.0, 1.7.0]", ["1.5.0", "1.7.0"]),
        ("1.5.0, 1.7.0", ["1.5.0", "1.7.0"]),
        ("false", []),
        (False, []),
        (None, []),
        ("", []),
        ("007", ["007"]),
        ([], []),
    ],
)
def test_lists_of_names_as_papermill_passes_them(given, wanted):
    assert parameters.names(given) == wanted


@pytest.mark.parametrize("given", [1.1, 7, True, [1.1], {"a": 1}.values()])
def test_what_is_no_name_is_refused(given):
    with pytest.raises(ReplayError, match="pass names as texts"):
        parameters.names(given)


def test_the_reported_release_is_always_there():
    assert parameters.releases(NAME, "1.7.0") == ["1.0.0rc7", "1.7.0"]
    with pytest.raises(ReplayError, match=r"no release 9\.9 .* there are: .*1\.0\.0rc7"):
        parameters.releases(NAME, "9.9")


@pytest.mark.parametrize(("given", "wanted"), [("live", "live"), (" Recorded ", "recorded")])
def test_modes(given, wanted):
    assert parameters.mode(given) == wanted


@pytest.mark.parametrize("given", ["false", False, "LIVE!", None])
def test_other_modes_are_refused(given):
    with pytest.raises(ReplayError, match="one of live, recorded"):
        parameters.mode(given)


def test_unknown_arms_are_refused():
    assert parameters.arms(NAME, "option-1") == ["option-1"]
    with pytest.raises(ReplayError, match="has no arm 'x'"):
        parameters.arms(NAME, "x")
