"""What a provider's rule is, and the registry of all of them: one provider, one file beside this one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from workbench.providers.request import Request

#: A: run or read here; B: verbatim in a public issue; C: inferred, or seen at a gateway only
Sure = Literal["A", "B", "C"]

#: every provider with its name for people
PROVIDERS = {
    "openai-responses": "OpenAI Responses",
    "openai-chat": "OpenAI Chat Completions",
    "anthropic": "Anthropic Messages",
    "gemini": "Gemini",
    "ollama": "Ollama",
    "mistral": "Mistral",
    "bedrock": "Amazon Bedrock Converse",
}


@dataclass(frozen=True, slots=True)
class Hit:
    """One place that breaks a rule. `words` fill the error text; `severity` is given where it is milder."""

    ids: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    words: dict[str, object] = field(default_factory=dict)
    severity: str = ""
    note: str = ""
    #: ids of items, names of tools
    others: tuple[str, ...] = ()


Check = Callable[[Request], Iterable[Hit]]


@dataclass(frozen=True, slots=True)
class ProviderRule:
    """A kind of request that a provider refuses, with the words of its refusal."""

    id: str
    provider: str
    says: str
    error: str
    sure: Sure
    sources: tuple[str, ...]
    check: Check


@dataclass(frozen=True, slots=True)
class Refusal:
    """A predicted refusal: which rule, for which calls and places, with the error text to expect."""

    rule: ProviderRule
    call_ids: tuple[str, ...]
    paths: tuple[str, ...]
    error: str
    severity: str
    note: str = ""
    others: tuple[str, ...] = ()


RULES: dict[str, ProviderRule] = {}


def provider_rule(
    id: str,  # noqa: A002 - it is called so everywhere else
    provider: str,
    *,
    says: str,
    error: str,
    sure: Sure,
    sources: Iterable[str],
) -> Callable[[Check], Check]:
    """Register a function `(request) -> hits` as a rule of a provider. Raises `ValueError` for a taken id."""

    def register(check: Check) -> Check:
        if id in RULES or provider not in PROVIDERS:
            raise ValueError(f"provider rule {id} of {provider}: taken, or no such provider")
        RULES[id] = ProviderRule(id, provider, says, error, sure, tuple(sources), check)
        return check

    return register


def judge(provider: str, request: Request, *, family: bool = False) -> list[Refusal]:
    """The refusals that a provider would answer a request with, in the order of its rules.

    `family`: the provider is told only by the shape of the request, so that rules of certainty C
    are not asked. Raises `ValueError` for an unknown provider.
    """
    return list(_judge(provider, request, family=family))


def _judge(provider: str, request: Request, *, family: bool) -> Iterator[Refusal]:
    if provider not in PROVIDERS:
        raise ValueError(f"no provider is called {provider!r}: {', '.join(PROVIDERS)}")
    for rule in RULES.values():
        if rule.provider != provider or (family and rule.sure == "C"):
            continue
        for hit in rule.check(request):
            severity = hit.severity or ("warning" if rule.sure == "C" else "error")
            words = {"ids": ", ".join(hit.ids), "n": len(hit.ids), **hit.words}
            ids = tuple(dict.fromkeys(i for i in hit.ids if i))
            yield Refusal(rule, ids, hit.paths, rule.error.format(**words), severity, hit.note, hit.others)
