"""Runs inside an environment with mistral-common: histories on stdin, verdicts of every validator on stdout.

One JSON list of messages a line in; one JSON object {version: error or null} a line out; the first line out
is the version of the package.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version

from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
from mistral_common.tokens.tokenizers.base import TokenizerVersion

VERSIONS = ("v3", "v7", "v11", "v13", "v15")


def main() -> None:
    print(json.dumps(version("mistral-common")))
    judges = {name: get_validator(TokenizerVersion(name), ValidationMode.serving) for name in VERSIONS}
    for line in sys.stdin:
        said = {}
        for name, judge in judges.items():
            try:
                judge.validate_request(ChatCompletionRequest(model="m", messages=json.loads(line)))
                said[name] = None
            except Exception as refusal:  # noqa: BLE001 - whatever it raises is its verdict
                said[name] = f"{type(refusal).__name__}: {refusal}"[:200]
        print(json.dumps(said))


if __name__ == "__main__":
    main()
