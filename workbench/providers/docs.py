"""The pages about providers, written from their rules: `python -m workbench.providers.docs [--out docs/providers]`."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from workbench.providers import PROVIDERS, RULES
from workbench.providers.catalogue import ProviderRule

OUT = Path("docs/providers")
_WRITTEN = (
    "<!-- written by `python -m workbench.providers.docs`; change the rules of the provider instead -->"
)
_SURE = {
    "A": "run, or read in the provider's own code",
    "B": "verbatim in a public issue",
    "C": "inferred, or seen at a gateway only: a warning",
}
_FIELD = re.compile(r"\{(\w+)[^}]*\}")


def pages() -> dict[str, str]:
    """All pages by file name, the index as `README.md`."""
    made = {f"{name}.md": page(name) for name in PROVIDERS}
    made["README.md"] = index()
    return made


def page(provider: str) -> str:
    """What one provider refuses: rule, expected words, how sure it is and where it is known from."""
    rules = [rule for rule in RULES.values() if rule.provider == provider]
    told = [_WRITTEN, "", f"# {PROVIDERS[provider]}: what it refuses", "", f"`--provider {provider}`", ""]
    for rule in rules:
        told += [f"## {rule.id}", "", rule.says, "", *_facts(rule), ""]
    return "\n".join(told).rstrip() + "\n"


def _facts(rule: ProviderRule) -> list[str]:
    words = _FIELD.sub(lambda found: f"⟨{found[1]}⟩", rule.error).replace("{{", "{").replace("}}", "}")
    return [
        f"- **Expect:** {words}",
        f"- **Certainty {rule.sure}:** {_SURE[rule.sure]}",
        f"- **Known from:** {'; '.join(rule.sources)}",
    ]


def index() -> str:
    """All providers with the number of their rules."""
    rows = [
        f"| [{name}]({key}.md) | `{key}` | {sum(rule.provider == key for rule in RULES.values())} |"
        for key, name in PROVIDERS.items()
    ]
    return "\n".join([
        _WRITTEN, "", "# Providers", "",
        "What each provider refuses in a history, as the rule [`provider-rejects`](../rules/provider-rejects.md) judges it.",
        "A payload is judged by the provider that its address shows, else by the family of its shape for rules of certainty",
        "A and B; `--provider` judges any history as if it were sent there.", "",
        "| provider | `--provider` | rules |", "|---|---|---|", *rows, "",
    ])  # fmt: skip


def main() -> None:
    """Write the pages; those of providers that are gone are deleted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT)
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    made = pages()
    for old in folder.glob("*.md"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
