"""The public names: sorted, few, there, and imported only when used."""

from __future__ import annotations

import subprocess
import sys

import workbench as wb


def test_all_is_sorted_and_every_name_resolves():
    assert list(wb.__all__) == sorted(wb.__all__)
    assert len(wb.__all__) == len(set(wb.__all__))
    for name in wb.__all__:
        assert getattr(wb, name) is not None
        assert name in dir(wb)


def test_unknown_names_are_attribute_errors():
    assert not hasattr(wb, "lode")


def test_types_are_declared_for_every_name(root):
    text = (root / "workbench" / "__init__.py").read_text(encoding="utf-8")
    declared = text.split("if TYPE_CHECKING:")[1].split("__all__")[0]
    assert all(name in declared for name in wb.__all__)


def test_import_is_light():
    code = (
        "import sys; before = set(sys.modules); import workbench; "
        "new = {m for m in sys.modules if m not in before and not m.startswith('workbench')}; "
        "assert not new & {'pandas', 'numpy', 'msgspec', 'rich', 'typer', 'plotly'}, new"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_everything_public_says_what_it_is():
    for name in wb.__all__:
        value = getattr(wb, name)
        assert name == "__version__" or value.__doc__, name


def test_findings_show_themselves_in_a_few_harmless_lines():
    from workbench.findings import Finding, Findings

    found = wb.check(wb.load("sample:mixed-decisions"))
    first, *rest = repr(found).splitlines()
    assert first == f"<Findings: 2 errors, 1 warning, 0 info; {len(found.skipped)} rules skipped>"
    assert len(rest) == len(found)
    many = Findings(found.trace, [Finding("\x1b[2J\u202e", severity="info", rule="call-x")] * 30)
    assert repr(many).endswith("  and 10 more")
    assert "\x1b" not in repr(many)
    assert "\u202e" not in repr(many)
