"""Mistral, as its own validator judges (mistral-common, mode serving): by version of the tokenizer.

What only some versions refuse is a warning that names them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from workbench.providers.catalogue import Hit, provider_rule
from workbench.providers.request import Message, Request, paths, shown
from workbench.readers.payloads.history import Block

_ME = "mistral"
#: versions of the validator whose rules about calls differ
VERSIONS = (3, 7, 11, 13, 15)
_ID = re.compile(r"^[a-zA-Z0-9]{9}$")
_NEXT = {
    "system": ("user", "assistant", "system"),
    "user": ("assistant", "system", "user"),
    "assistant": ("assistant", "user", "tool"),
    "tool": ("assistant", "tool", "user"),
}
Fault = tuple[list[Block], dict[str, object]]
_SOURCE = "mistral-common 1.13.1, run"


def refused(request: Request, version: int) -> list[str]:
    """The ids of the rules by which one version of the validator refuses a request; none where it takes it."""
    checks: dict[str, Callable[[list[Message], int], Iterator[Fault]]] = {
        "R31": _counts, "R32": _ids, "R33": _pairs, "R34": _order,
    }  # fmt: skip
    return [
        name for name, check in checks.items() if next(check(request.messages, version), None) is not None
    ]


def _counts(messages: list[Message], version: int) -> Iterator[Fault]:
    """Numbers of calls and results before the next assistant message, and at the end.

    The first message is not counted; from V11 on ids are counted, of which double ones are one.
    """
    expected: list[Block] = []
    found: list[Block] = []
    for message in [*messages[1:], Message("assistant", "")]:
        if message.role == "tool" and message.result is not None:
            found.append(message.result)
        elif message.role == "assistant":
            wanted, got = [b.call_id for b in expected], [b.call_id for b in found]
            if version >= 11:
                wanted, got = list(dict.fromkeys(wanted)), list(dict.fromkeys(got))
            if len(wanted) != len(got):
                open_calls = [b for b in expected if b.call_id not in got]
                extra = [b for b in found if b.call_id not in wanted]
                yield open_calls or extra or expected or found, {}
            expected, found = list(message.calls), []


def _ids(messages: list[Message], version: int) -> Iterator[Fault]:
    for message in messages:
        for block in [*message.calls, *([message.result] if message.result is not None else [])]:
            own = block.call_id
            missing = not own or own == "null"
            if missing or (version < 13 and not _ID.match(own)):
                yield [block], {"id": own}


def _pairs(messages: list[Message], version: int) -> Iterator[Fault]:
    """From V11 on: ids are unique in an assistant message, and a result names a call that waits."""
    expected: set[str] = set()
    seen: set[str] = set()
    for message in messages[1:] if version >= 11 else ():
        if message.role == "tool" and message.result is not None:
            own = message.result.call_id
            if own in seen:
                yield [message.result], {"what": f"Duplicate tool call id {own} in tool results"}
            elif own not in expected:
                yield [message.result], {"what": f"Unexpected tool call id {own} in tool results"}
            seen.add(own)
        elif message.role == "assistant":
            expected, seen = set(), set()
            for call in message.calls:
                if call.call_id in expected:
                    yield [call], {"what": f"Duplicate tool call id {call.call_id} in assistant message"}
                expected.add(call.call_id)


def _order(messages: list[Message], version: int) -> Iterator[Fault]:  # noqa: ARG001 - the same in all versions
    for before, message in pairwise(messages):
        if message.role in _NEXT and message.role not in _NEXT.get(before.role, _NEXT):
            what = f"Unexpected role '{message.role}' after role '{before.role}'"
            yield _about(message), {"what": what, "place": message.path}
    if len(messages) == 1 and messages[0].role not in ("user", "system"):
        what = "Conversation must start with a user message or system message"
        yield _about(messages[0]), {"what": what, "place": messages[0].path}
    elif messages and messages[-1].role == "assistant" and messages[-1].raw.get("prefix") is not True:
        what = "Expected last role User or Tool (or Assistant with prefix) for serving but got assistant"
        yield _about(messages[-1]), {"what": what, "place": messages[-1].path, "last": True}


def _about(message: Message) -> list[Block]:
    return [message.result] if message.result is not None else message.calls


def _hits(request: Request, check: Callable[[list[Message], int], Iterator[Fault]]) -> Iterator[Hit]:
    """What any version refuses, once, with the versions that do."""
    versions: dict[tuple[tuple[str, ...], str], list[int]] = {}
    faults: dict[tuple[tuple[str, ...], str], Fault] = {}
    for version in VERSIONS:
        for blocks, words in check(request.messages, version):
            key = (paths(blocks), str(words))
            versions.setdefault(key, []).append(version)
            faults.setdefault(key, (blocks, words))
    for key, (blocks, words) in faults.items():
        some = sorted(set(versions[key]))
        mild = len(some) < len(VERSIONS)
        note = f"refused by validator V{some[0]} to V{some[-1]} only" if mild else ""
        places = paths(blocks) or ((str(words["place"]),) if "place" in words else ())
        yield Hit(shown(blocks), places, words, "warning" if mild else "", note)


@provider_rule(
    "R31", _ME, sure="A", sources=[_SOURCE],
    says="Before the next assistant message, and at the end, there are as many results as calls.",
    error="Not the same number of function calls and responses",
)  # fmt: skip
def counts(request: Request) -> Iterator[Hit]:
    """Calls and results that differ in number."""
    ends = {b.path for b in (request.messages[-1].calls if request.messages else ())}
    for hit in _hits(request, _counts):
        if request.sent or not ends & set(hit.paths):
            yield hit


@provider_rule(
    "R32", _ME, sure="A", sources=[_SOURCE, "editor-code-assistant/eca#233"],
    says='A call id has nine letters or digits (validators V3 to V11); later ones want any text but "" and "null".',
    error="Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.",
)  # fmt: skip
def ids(request: Request) -> Iterator[Hit]:
    """Ids of another form, each once."""
    seen: set[str] = set()
    for hit in _hits(request, _ids):
        own = str(hit.words["id"])
        if own not in seen and not own.startswith("\x00"):
            seen.add(own)
            yield hit


@provider_rule(
    "R33", _ME, sure="A", sources=[_SOURCE],
    says="Validators from V11 on: ids are unique in an assistant message and among its results, and a result names a "
    "call of that message.",
    error="{what}",
)  # fmt: skip
def pairs(request: Request) -> Iterator[Hit]:
    """Double ids, and results of calls that were not made."""
    yield from _hits(request, _pairs)


@provider_rule(
    "R34", _ME, sure="A", sources=[_SOURCE],
    says="A tool message follows an assistant or tool message, a system message no assistant message; the last message "
    "is not the assistant's, unless it is a prefix.",
    error="{what}",
)  # fmt: skip
def order(request: Request) -> Iterator[Hit]:
    """Roles in an order that is refused."""
    for hit in _hits(request, _order):
        if request.sent or not hit.words.get("last"):
            yield hit
