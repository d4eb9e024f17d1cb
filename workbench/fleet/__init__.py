"""Many captures: check each by itself, on one machine or many, and ask tables about all of them.

A check is a pure function of one capture (`one.check_one`), so that an engine is only a way to call it often.
"""

from __future__ import annotations
