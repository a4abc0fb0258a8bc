"""The house rules, read off the source itself."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import reverie_hookspecs
from reverie_hookspecs import specs

ROOT = Path(__file__).parents[2]
WINGS = {
    "reverie_hookspecs": set(),
    "reverie": {"reverie_hookspecs"},
    "reverie_plugins": {"reverie_hookspecs", "reverie"},
}
TOOLBOX = {"markdown", "workspace", "schedule", "redact", "schema", "testing"}
HOOKS = {
    "compose_section": "(agent: 'Agent') -> 'Section | None'",
    "on_dream": "(agent: 'Agent') -> 'Stage | None'",
    "select_ops": "(dream: 'Dream') -> 'Proposal | None'",
    "on_index": "(corpus: 'Corpus') -> 'IndexJob | None'",
    "tool_registry": "(agent: 'Agent') -> 'Tool | None'",
}
FILES = sorted(path for wing in ("hookspecs", "framework", "plugins") for path in (ROOT / wing).rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Every absolute module a file imports, in full."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_wing_imports_only_the_wings_below_it(path: Path) -> None:
    home = path.relative_to(ROOT).parts[1]
    assert {name.split(".")[0] for name in imported(path)} & {*WINGS} - {home} <= WINGS[home]


@pytest.mark.parametrize(
    "path", [p for p in FILES if "plugins" in p.relative_to(ROOT).parts[0]], ids=lambda p: str(p.relative_to(ROOT))
)
def test_a_plugin_uses_only_the_toolbox_of_the_framework(path: Path) -> None:
    rooms = {name.split(".")[1] for name in imported(path) if name.startswith("reverie.")}
    assert rooms <= TOOLBOX


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_room_can_be_crossed(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= 400


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_public_door_has_a_docstring(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    assert ast.get_docstring(tree), path
    bare = [
        node.name
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and not ast.get_docstring(node)
    ]
    assert not bare


def test_there_are_five_hooks_with_these_signatures() -> None:
    hooks = {name: obj for name, obj in vars(specs).items() if hasattr(obj, "reverie_spec")}
    assert {name: str(inspect.signature(hook)) for name, hook in hooks.items()} == HOOKS


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_says_when_it_is_called_what_to_return_and_in_what_order(hook: str) -> None:
    told = inspect.getdoc(getattr(specs, hook)) or ""
    for word in ("Called when:", "Return:", "Order:", "Example:"):
        assert word in told


def test_the_examples_of_the_hooks_run() -> None:
    import doctest

    from reverie_hookspecs import settings

    for module in (specs, settings):
        result = doctest.testmod(module)
        assert result.attempted and not result.failed


def test_every_name_is_loaded_on_use_and_stands_where_the_table_says() -> None:
    for room, names in reverie_hookspecs.ROOMS.items():
        module = importlib.import_module(f"reverie_hookspecs.{room}")
        for name in names:
            assert getattr(reverie_hookspecs, name) is getattr(module, name)
    assert sorted(reverie_hookspecs.__all__) == sorted(n for names in reverie_hookspecs.ROOMS.values() for n in names)
    source = (ROOT / "hookspecs/reverie_hookspecs/__init__.py").read_text("utf-8")
    assert set(re.findall(r"(\w+) as \1", source)) == {*reverie_hookspecs.__all__}


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Sectoin'"):
        _ = reverie_hookspecs.Sectoin


HEAVY = ("anthropic", "mcp", "peewee", "yaml", "rich", "cattrs", "starlette", "schedule", "zoneinfo", "difflib")


def loaded_by(code: str) -> set[str]:
    listing = f"import sys\n{code}\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    return set(done.stdout.split("\n")[-2].split())


def test_the_launcher_imports_nothing_but_click() -> None:
    code = "from reverie.cli import main\nmain(['--version'], standalone_mode=False)"
    assert loaded_by(code) == set()


def test_composing_imports_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("A")
    code = f"from reverie.cli import main\nmain(['compose', {str(tmp_path)!r}, '--stdout'], standalone_mode=False)"
    assert loaded_by(code) == set()
