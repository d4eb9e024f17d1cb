"""From a scenario, an arm and options to the spec that a guest carries out.

A scenario file declares one conversation and what may vary in it; `options` are named changes to it:
a key replaces the part of that name, mappings are merged, `tools+` adds to the list, and `steps[form]`
sets a key in every step that has it.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.replay.engine.errors import ReplayError
from workbench.replay.scenarios import scenario

PATCHES = Path(__file__).resolve().parent / "guest" / "patches"


@dataclass(frozen=True)
class Arm:
    """One arm: a scenario on a release, with patches and chosen options."""

    scenario: str
    release: str
    name: str = "unpatched"
    patches: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def label(self) -> str:
        """The arm in one word, which is also its folder: `option-1`, `unpatched,agent=harness,form=resume`."""
        chosen = (f"{axis}={value}" for axis, value in sorted(self.options.items()))
        return ",".join([self.name, *chosen])

    def told(self) -> dict[str, Any]:
        """The arm as data, as it stands in a recording."""
        return {
            "scenario": self.scenario, "release": self.release, "name": self.name,
            "patches": list(self.patches), "options": dict(sorted(self.options.items())),
        }  # fmt: skip


def arm(
    name: str,
    *,
    arm: str = "unpatched",
    release: str | None = None,
    patches: Sequence[str] | None = None,
    options: Mapping[str, str] | None = None,
) -> Arm:
    """Choose an arm; `ReplayError` with what there is where a name is not known.

    `patches` takes the place of those that the arm declares; an option that is the first of its axis is
    the default, and is left out.
    """
    declared = scenario(name)
    if arm not in declared["arms"]:
        raise ReplayError(f"{name} has no arm {arm!r}; there are: {', '.join(declared['arms'])}")
    chosen = {}
    for axis, value in (options or {}).items():
        values = declared["options"].get(axis)
        if values is None:
            raise ReplayError(f"{name} has no option {axis!r}; there are: {', '.join(declared['options'])}")
        if value not in values:
            raise ReplayError(f"{axis} of {name} is one of: {', '.join(values)}; not {value!r}")
        if value != next(iter(values)):
            chosen[axis] = value
    taken = tuple(declared["arms"][arm]["patches"] if patches is None else patches)
    label = arm if patches is None else "+".join(Path(patch).stem for patch in taken) or "unpatched"
    return Arm(name, release or declared["release"], label, taken, chosen)


def spec(chosen: Arm, *, telemetry: bool = True) -> dict[str, Any]:
    """The spec of an arm for the guest."""
    declared = scenario(chosen.scenario)
    made: dict[str, Any] = copy.deepcopy(declared["spec"])
    # in the order in which the scenario declares the axes
    for axis, values in declared["options"].items():
        if axis in chosen.options:
            _change(made, copy.deepcopy(values[chosen.options[axis]]))
    made["arm"] = chosen.told()
    made["packages"] = declared["packages"]
    made["patches"] = [str(patch_file(patch)) for patch in chosen.patches]
    made["telemetry"] = telemetry or made.get("telemetry", False)
    return made


def patch_file(patch: str) -> Path:
    """The file of a patch: one of ours by its name, or a path of one's own."""
    ours = PATCHES / f"{patch.replace('-', '_')}.py"
    if ours.exists():
        return ours
    own = Path(patch).expanduser().absolute()
    if own.suffix == ".py" and own.is_file():
        return own
    known = ", ".join(sorted(path.stem.replace("_", "-") for path in PATCHES.glob("[!_]*.py")))
    raise ReplayError(f"no patch is called {patch!r}, and it is no Python file; there are: {known}")


def _change(spec: dict[str, Any], changes: Mapping[str, Any]) -> None:
    for key, value in changes.items():
        if key.startswith("steps["):
            inner = key[6:-1]
            for step in spec["steps"]:
                if inner in step:
                    step[inner] = value
        elif key.endswith("+"):
            spec[key[:-1]] = [*spec[key[:-1]], *value]
        elif isinstance(value, dict) and isinstance(spec.get(key), dict):
            spec[key] = {**spec[key], **value}
        else:
            spec[key] = value
