"""The reference says what the code does."""

from __future__ import annotations

import importlib.util
import json
import re
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

import pytest

from reverie_hookspecs import errors

DOCS = Path(__file__).parents[2] / "docs"


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["hooks.md", "configuration.md", "commands.md"])
def test_a_page_is_what_the_code_makes_of_it(page: str) -> None:
    made = generator().PAGES[page]()
    assert (DOCS / "reference" / page).read_text("utf-8") == made, "run: python docs/generate.py"


def test_every_error_stands_in_the_reference_with_its_codes() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\d) \| (\d+) \|", (DOCS / "reference/errors.md").read_text("utf-8"), re.M)
    classes = [cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, errors.ReverieError)]
    told = {(cls.__name__, str(cls.exit_code), str(cls.status)) for cls in classes if cls is not errors.ReverieError}
    assert {*rows} == told


def test_every_first_party_plugin_stands_in_the_reference() -> None:
    page = (DOCS / "reference/slots.md").read_text("utf-8")
    ours = [point.name for point in entry_points(group="reverie") if point.value.startswith("reverie_plugins")]
    for name in ours:
        assert f"| `{name}` | `{name}` |" in page


def links() -> list[tuple[Path, str]]:
    pages = [*DOCS.rglob("*.md"), DOCS.parent / "README.md"]
    return [(page, link) for page in pages for link in re.findall(r"\]\(([^)#]+?)\)", page.read_text("utf-8"))]


@pytest.mark.parametrize(("page", "link"), links(), ids=lambda value: str(value).rpartition("docs/")[2])
def test_a_link_leads_somewhere(page: Path, link: str) -> None:
    assert link.startswith("https://") or (page.parent / link).exists()


@pytest.mark.parametrize("page", [*DOCS.rglob("*.md")], ids=lambda page: page.name)
def test_json_in_the_docs_is_json(page: Path) -> None:
    for block in re.findall(r"```json\n(.*?)```", page.read_text("utf-8"), re.S):
        json.loads(block)


@pytest.mark.parametrize("page", [*DOCS.rglob("*.md"), DOCS.parent / "README.md"], ids=lambda page: page.name)
def test_python_in_the_docs_runs(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each block is run on its own, but for signatures, doctests and tests, which other tests run."""
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.S):
        if not block.startswith((">>>", "def ")) and "import pytest" not in block:
            exec(compile(block, page.name, "exec"), {"__name__": page.stem})
