"""What is a secret wherever it stands: keys, tokens, JWTs, cookies, addresses, home folders, own patterns.

The patterns are bounded in every repetition, so that no text makes them slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

#: group `s` is the secret where the pattern needs something around it
_PATTERNS = (
    # JSON web tokens, also without their signature
    r"\bey[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{4,8000}(?:\.[A-Za-z0-9_-]{0,4000})?",
    # prefixes by which services mark their own keys
    r"\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|or|lf|svcacct)?[-_]?[A-Za-z0-9_-]{12,300}",
    (
        r"\b(?:gh[pousr]_|github_pat_|glpat-|gldt-|hf_|npm_|pypi-|dop_v1_|shpat_|sq0[a-z]{3}-|xox[abeprs]-|xapp-|"
        r"AIza|ya29\.|AKIA|ASIA|AGPA|AROA|SG\.|lsv2_|tvly-|gsk_|nvapi-|r8_|whsec_|figd_|dapi|PMAK-|EAAC)"
        r"[A-Za-z0-9_.=-]{10,300}"
    ),
    # after the word that says so
    r"(?i)\b(?:bearer|basic|token|digest|negotiate)[ \t]{1,4}(?P<s>[A-Za-z0-9+/_.~=-]{8,4000})",
    (
        r"(?i)(?:api[_-]?key|access[_-]?key|account[_-]?key|shared[_-]?access[_-]?key|client[_-]?secret|secret|passw(?:or)?d|"
        r"pwd|auth[_-]?token|access[_-]?token|refresh[_-]?token|id[_-]?token|session[_-]?token|sig|signature|token)"
        r"[\\\"']{0,4}[ \t]{0,4}[=:][ \t]{0,4}[\\\"']{0,4}(?P<s>[^\s\"'\\&;,<>{}()\[\]]{6,1000})"
    ),
    r"(?im)\b(?:set-)?cookie2?[\\\"']{0,4}[ \t]{0,4}:[ \t]{0,4}[\\\"']{0,4}(?P<s>[^\r\n\"\\]{4,4000})",
    r"(?im)\b(?:proxy-)?authorization[\\\"']{0,4}[ \t]{0,4}[:=][ \t]{0,4}[\\\"']{0,4}(?P<s>[^\r\n\"\\]{4,4000})",
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?P<s>[^-]{1,10000})",
    # user:password in an address
    r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://(?P<s>[^\s/@:\"\\]{0,100}:[^\s/@\"\\]{1,200})@",
    # e-mail addresses
    r"(?<![\w.+-])(?P<s>[\w.+%-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8})",
    # the person whose home folder a path names, however often its separators are escaped
    r"(?:/|\\/)(?:home|Users)(?:/|\\/)(?P<s>[^/\\\s\"'<>:|]{1,64})",
    r"(?i)\b[a-z]:(?:\\{1,8}|/)(?:users|documents and settings)(?:\\{1,8}|/)(?P<s>[^/\\\s\"'<>:|]{1,64})",
)
#: names of fields whose whole value is a secret
SECRET_KEY = re.compile(
    r"(?:^|[_.-])(?:authorization|cookies?|set[_-]?cookie2?|pass(?:word|wd|phrase)?|pwd|secret|client[_-]?secret|"
    r"(?:x[_-])?(?:api|access|auth|account|private|secret|subscription|functions)[_-]?(?:key|token)s?|jwt|bearer|"
    r"(?:refresh|id|session|security|csrf|xsrf)[_-]?token|token|credentials?|connection[_-]?string)$",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def secret_key(name: str) -> bool:
    """Whether a field of that name holds a secret, whatever it looks like."""
    return len(name) < 100 and bool(SECRET_KEY.search(_CAMEL.sub("_", name)))


class Detectors:
    """Finds secrets in a text; `patterns` are regular expressions of the caller's own.

    A group `s` of a pattern narrows what is taken. Raises `re.error` for one that is none.
    """

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self._patterns = [re.compile(pattern) for pattern in (*_PATTERNS, *patterns)]

    def find(self, text: str) -> list[tuple[int, int]]:
        """Stretches of the text that are secrets, in order and without overlap."""
        found: list[tuple[int, int]] = []
        for pattern in self._patterns:
            group = "s" if "s" in pattern.groupindex else 0
            found += [
                match.span(group) for match in pattern.finditer(text) if match.end(group) > match.start(group)
            ]
        found.sort()
        joined: list[tuple[int, int]] = []
        for start, end in found:
            if joined and start < joined[-1][1]:
                joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
            else:
                joined.append((start, end))
        return joined
