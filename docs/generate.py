"""Write the pages of the reference that the code itself knows; a test holds them against it.

python docs/generate.py
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import textwrap
from collections.abc import Iterator
from pathlib import Path

import attrs
import click

import reverie_hookspecs
from reverie.cli import COMMANDS, main
from reverie_hookspecs import DOCUMENTED, Block, specs

HERE = Path(__file__).parent / "reference"
WHERE = {("agent", "gateway"): "gateway and agent", ("gateway",): "gateway", ("agent",): "agent"}


def hooks() -> str:
    """The page of hooks and of the values that pass through them."""
    lines = [
        "# Hooks",
        "",
        "Five hooks. Each implementation takes one value and returns one value, or None to stay silent.",
        "A plugin with several sections, stages or tools writes one method for each and marks it",
        '`@hookimpl(specname="…")`.',
        "",
    ]
    for name, hook in vars(specs).items():
        if hasattr(hook, "reverie_spec"):
            signature = str(inspect.signature(hook)).replace("'", "")
            lines += [f"## {name}", "", "```python", f"def {name}{signature}", "```", "", *told(hook), ""]
    lines += ["# Values and classes", "", "All are imported from `reverie_hookspecs`.", ""]
    for room, names in reverie_hookspecs.ROOMS.items():
        if room not in ("specs", "settings", "errors") and not room.startswith("blocks"):
            lines += [line for name in names for line in value(room, name)]
    return "\n".join(lines).rstrip() + "\n"


def told(thing: object) -> Iterator[str]:
    """A docstring as Markdown: its example becomes a block of code."""
    text = inspect.getdoc(thing) or ""
    prose, _, example = text.partition("Example:\n")
    yield from prose.replace("``", "`").rstrip().splitlines()
    if example:
        yield from ("", "Example:", "", "```python", *textwrap.dedent(example).rstrip().splitlines(), "```")


def value(room: str, name: str) -> Iterator[str]:
    """A class with its fields or methods; aliases and constants are left to the source."""
    cls = getattr(importlib.import_module(f"reverie_hookspecs.{room}"), name)
    if not inspect.isclass(cls) or not cls.__doc__:
        return
    yield from (f"## {name}", "", *told(cls), "")
    if attrs.has(cls) and attrs.fields(cls):
        yield from ("| field | type | default |", "|---|---|---|")
        for field in attrs.fields(cls):
            default = "" if field.default is attrs.NOTHING else shown(field.default)
            yield f"| `{field.name.lstrip('_')}` | `{str(field.type).replace('|', chr(92) + '|')}` | {default} |"
        yield ""
        return
    for member, function in vars(cls).items():
        if inspect.isfunction(function) and not member.startswith("_"):
            yield f"- `{member}{str(inspect.signature(function)).replace(chr(39), '')}`: {inspect.getdoc(function)}"
    yield ""


def shown(default: object) -> str:
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        return "empty"
    return f"`{default!r}`"


def configuration() -> str:
    """The page of every key, with its default and where it may stand."""
    lines = [
        "# Configuration",
        "",
        "`config.json` in the home, or the file that `--config` or `GATEWAY_CONFIG` names.",
        "Without one every default applies.",
        "",
        "A value is taken from the agent's entry, else from `gateway`, else it is the default, field by field;",
        "`null` is not set. A wrong type or a number out of range counts as not set at that level, with one warning",
        "that says what is used instead.",
        "`reverie config show` prints every effective value and where it comes from.",
        "",
        "```json",
        "{",
        '  "configVersion": "1.0.26",',
        '  "gateway": { "timezone": "Europe/Berlin", "memory": { "memoryBudgetChars": 9000 } },',
        '  "agents": [{ "id": "alfred", "workspace": "~/agent", "dreaming": { "dreamHour": 4 } }],',
        '  "plugins": {}',
        "}",
        "```",
        "",
        "`gateway` (an object) and `agents` (an array with at least one that can be used) must be there. An agent",
        "needs an `id`; its `workspace` is absolute, begins with `~/`, or is relative to the folder of the file, and",
        "without one it is `agents/<id>/workspace` in the home. `gateway.timezone` stands for every zone that is not",
        "set; without it UTC.",
        "`plugins` is explained under [Select plugins](../how-to/select-plugins.md).",
        "",
        "In `propose` mode the deterministic sweeps are not run either; what would be proposed is written down.",
        "",
    ]
    for block in DOCUMENTED:
        lines += section(block)
    return "\n".join(lines).rstrip() + "\n"


def section(block: type[Block]) -> Iterator[str]:
    """The table of one block."""
    yield from (f"## {block.path or 'agents[]'} ({WHERE[block.levels]})", "", inspect.getdoc(block) or "", "")
    yield from ("| key | default | what |", "|---|---|---|")
    notes = attribute_docs(block)
    for field in attrs.fields(block):
        default = field.default if not isinstance(field.default, tuple) else list(field.default)
        yield f"| `{camel(field.name)}` | `{json.dumps(default)}` | {notes.get(field.name, '')} |"
    yield ""


def attribute_docs(cls: type) -> dict[str, str]:
    """The docstring beneath each field, of the class and of those it extends."""
    found: dict[str, str] = {}
    for one in reversed(cls.__mro__):
        if not one.__module__.startswith("reverie_hookspecs"):
            continue
        tree = ast.parse(textwrap.dedent(inspect.getsource(one))).body[0]
        assert isinstance(tree, ast.ClassDef)
        for field, doc in zip(tree.body, tree.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant):
                assert isinstance(field.target, ast.Name)
                found[field.target.id] = str(doc.value.value).replace("``", "`")
    return found


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def commands() -> str:
    """The page of the launcher's commands, with their options."""
    lines = ["# Commands", "", "AGENT is an id of the configuration or the path of a workspace.", ""]
    context = click.Context(main, info_name="reverie")
    for name in COMMANDS:
        command = main.get_command(context, name)
        assert command is not None
        lines += described(command, f"reverie {name}")
    return "\n".join(lines).rstrip() + "\n"


def described(command: click.Command, path: str) -> Iterator[str]:
    """A command with its options, and those below it."""
    words = [one.metavar or "" for one in command.params if isinstance(one, click.Argument)]
    yield from (f"## {' '.join([path, *words])}", "", inspect.cleandoc(command.help or ""), "")
    for option in command.params:
        if isinstance(option, click.Option):
            yield f"- `{', '.join(option.opts)}`: {option.help}"
    yield ""
    if isinstance(command, click.Group):
        for name, child in command.commands.items():
            yield from described(child, f"{path} {name}")


PAGES = {"hooks.md": hooks, "configuration.md": configuration, "commands.md": commands}

if __name__ == "__main__":
    for page, write in PAGES.items():
        (HERE / page).write_text(write(), "utf-8")
