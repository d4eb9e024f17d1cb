"""What pip is configured with, handed on to uv, which does not read it: mirror, indexes, certificates, proxy.

Standard library only: `.ci/setup.py` uses it before anything is installed.
"""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

UV_VERSION = "0.13.9"
#: lifts settings that forbid or redirect an install, for a folder of our own
PIP_ENVIRONMENT = {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def pip_settings(listing: str) -> dict[str, str]:
    """The settings that `pip config list` prints, by option name: environment over `[install]` over `[global]`."""
    settings: dict[str, tuple[int, str]] = {}
    ranks = {"global": 0, "install": 1, ":env:": 2}
    for line in listing.splitlines():
        key, _, value = line.partition("=")
        section, _, option = key.rpartition(".")
        if section in ranks and ranks[section] >= settings.get(option, (0, ""))[0]:
            settings[option] = (ranks[section], str(ast.literal_eval(value)))
    return {option: value for option, (_, value) in settings.items()}


def uv_environment(settings: dict[str, str]) -> dict[str, str]:
    """Make the environment for uv; what the person has set for uv stays as it is."""
    environment = dict(os.environ)
    environment.pop("VIRTUAL_ENV", None)

    def hand_on(name: str, value: str) -> None:
        if value:
            environment.setdefault(name, value)

    hand_on("UV_PYTHON_DOWNLOADS", "never")
    hand_on("UV_LINK_MODE", "copy" if sys.platform == "win32" else "")
    hand_on("UV_DEFAULT_INDEX", settings.get("index-url", ""))
    extra = [index for index in settings.get("extra-index-url", "").split() if _reachable(index)]
    if extra:
        hand_on("UV_INDEX", " ".join(extra))
        # as pip does: the best version of all indexes, not of the first that has the name
        hand_on("UV_INDEX_STRATEGY", "unsafe-best-match")
    links = [place for place in settings.get("find-links", "").split() if _reachable(place)]
    hand_on("UV_FIND_LINKS", ",".join(links))
    hand_on("UV_INSECURE_HOST", settings.get("trusted-host", ""))
    hand_on("UV_HTTP_TIMEOUT", settings.get("default-timeout", settings.get("timeout", "")))
    if settings.get("no-index", "").lower() in {"1", "true", "yes", "on"}:
        hand_on("UV_NO_INDEX", "1")
    certificates = settings.get("cert", "")
    if certificates and Path(certificates).is_file():
        hand_on("SSL_CERT_FILE", certificates)
    # as pip does: trust what the system trusts
    hand_on("UV_SYSTEM_CERTS", "1")
    for name in ("HTTP_PROXY", "HTTPS_PROXY"):
        if name.lower() not in environment:
            hand_on(name, settings.get("proxy", ""))
    return environment


def _reachable(location: str) -> bool:
    """False for a folder that is not there: pip passes over it, uv would stop."""
    parts = urlsplit(location)
    if parts.scheme == "file":
        return Path(url2pathname(parts.path)).exists()
    return bool(parts.netloc) or Path(location).exists()
