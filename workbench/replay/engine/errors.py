"""What can go wrong with a replay, for the person who started it."""

from __future__ import annotations

from workbench.exceptions import WorkbenchError


class ReplayError(WorkbenchError):
    """A replay that could not be run; the message says why and what to do."""


class BuildError(ReplayError):
    """An environment that could not be built, in uv's own words."""


class GuestError(ReplayError):
    """A guest process that crashed, did not answer in time, or could not do what it was told."""


class DoesNotFitError(ReplayError):
    """A patch that was not written for this release."""
