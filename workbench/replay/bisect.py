"""Find the release on which a bug begins or ends, in log n environments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workbench.replay.engine import releases as known
from workbench.replay.engine.errors import ReplayError
from workbench.replay.scenarios import family
from workbench.replay.sweep import Variant, run_release, variants

#: gives the outcome of a release
Ask = Callable[[str], str]
#: outcomes that say nothing about the bug
_SILENT = ("not applicable", "refused to install", "did not run")


@dataclass(frozen=True)
class Boundary:
    """Two neighbours, as far as releases can tell: the last on the one side and the first on the other."""

    last: str
    last_outcome: str
    first: str
    first_outcome: str
    #: outcomes of all releases that were asked, in the order in which they were asked
    asked: dict[str, str]
    #: releases between the two, none of which can tell
    between: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The boundary in a sentence."""
        told = f"{self.last} is {self.last_outcome}, {self.first} is {self.first_outcome}"
        gap = f"; {', '.join(self.between)} cannot tell" if self.between else ""
        return f"{told}{gap} ({len(self.asked)} environments)."


def bisect(
    name: str,
    *,
    good: str | None = None,
    bad: str | None = None,
    variant: str | None = None,
    python: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Boundary:
    """Find where a bug begins (`good` older than `bad`) or ends (`bad` older than `good`).

    By default `bad` is the release that the report names and `good` the newest. `variant` is a title of the
    sweep's variants; the first by default. Raises `ReplayError` where an end is not what it is said to be.
    """
    leading = family(name)
    everything = list(known.pairs(leading))
    columns = variants(name)
    chosen = [column for column in columns if variant in (None, column.title)][:1]
    if not chosen:
        titles = ", ".join(column.title for column in columns)
        raise ReplayError(f"{name} has no variant {variant!r}; there are: {titles}")
    from workbench.replay.scenarios import scenario

    ends = (good or everything[-1], bad or scenario(name)["release"])
    for release in ends:
        known.packages(release, leading)

    def ask(release: str) -> str:
        word = _asked(name, release, chosen, python)
        if progress:
            progress(f"{release}: {word}")
        return word

    return search(everything, *ends, ask)


def _asked(name: str, release: str, chosen: list[Variant], python: str | None) -> str:
    return str(run_release(name, release, chosen, python=python)[0]["outcome"])


def search(everything: list[str], good: str, bad: str, ask: Ask) -> Boundary:
    """Halve the releases between the two; those that cannot tell are passed over for their neighbours."""
    told: dict[str, str] = {}

    def affected(release: str) -> bool | None:
        if release not in told:
            told[release] = ask(release)
        word = told[release]
        return None if word in _SILENT else word == "affected"

    if affected(bad) is not True:
        raise ReplayError(f"{bad} is {told[bad]}, not affected; name another with --bad")
    if affected(good) is not False:
        raise ReplayError(f"{good} is {told[good]}, so it is no good end; name another with --good")
    low, high = sorted((everything.index(good), everything.index(bad)))
    left = affected(everything[low])
    while True:
        inside = list(range(low + 1, high))
        middle = (low + high) / 2
        inside.sort(key=lambda place: abs(place - middle))
        for place in inside:
            answer = affected(everything[place])
            if answer is not None:
                if answer == left:
                    low = place
                else:
                    high = place
                break
        else:
            last, first = everything[low], everything[high]
            gap = tuple(everything[low + 1 : high])
            return Boundary(last, told[last], first, told[first], told, gap)
