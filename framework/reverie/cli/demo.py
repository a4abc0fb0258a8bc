"""reverie demo"""

from __future__ import annotations

import json
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie_hookspecs import Refused

from . import account
from .workspace import SEEDS

if TYPE_CHECKING:
    from reverie.kernel import Kernel
    from reverie_hookspecs import Agent

BUDGET = 1200
QUESTION = "how long does the guarantee on the new slate last?"


@click.command("demo")
def command() -> None:
    """Show a night on sample data: compose under a budget, dream with its diff, take it back.

    Everything happens in a temporary folder that is removed at the end. No network, no key, no model.
    """
    with tempfile.TemporaryDirectory(prefix="reverie-demo-") as place:
        play(Path(place))
    click.echo("\nNow with a workspace of your own:")
    for line in ("reverie init PATH", "reverie dream PATH --dry-run", "reverie dream PATH"):
        click.echo(f"  {line}")


def play(home: Path) -> None:
    """The demonstration, step by step, with the real parts."""
    from reverie.config import Config
    from reverie.kernel import Kernel

    root = furnish(home)
    deployment = Kernel.load(Config.load(home / "config.json", home, {}))
    agent = deployment.agent("purser")
    title("1. What the agent reads at the start of a session (its memory section)")
    composed = deployment.composed(agent)
    click.echo(excerpt(composed.text))
    title("2. The night: finished entries move to an archive, word for word")
    dream = deployment.run(agent)
    done = account.as_json(dream, account.changes(dream))
    account.show(done["files"])
    account.tell(done, quiet=True)
    title(f"3. What left the prompt is found again: {QUESTION}")
    found(deployment, agent, QUESTION)
    title("4. Everything can be taken back, byte for byte")
    before = (files("reverie") / "templates" / "demo" / "MEMORY.md").read_bytes()
    deployment.undo(agent, dream.run.id)
    if (root / "MEMORY.md").read_bytes() != before:
        raise Refused("the undo did not restore MEMORY.md; `reverie doctor` looks for the reason")
    click.echo(f"undone: MEMORY.md is what it was, all {len(before):,} bytes of it")


def found(deployment: Kernel, agent: Agent, question: str) -> None:
    """The best passage that answers a question."""
    from .search import archive_of, tell

    for hit in archive_of(deployment, agent).search(agent.corpus, question, 1):
        tell(hit)


def furnish(home: Path) -> Path:
    """A workspace with sample data and a small budget, so that the banner shows."""
    root = home / "workspace"
    root.mkdir()
    for name in SEEDS:
        (root / name).write_bytes((files("reverie") / "templates" / "demo" / name).read_bytes())
    entry = {"id": "purser", "workspace": str(root)}
    text = {"configVersion": "1.0.26", "gateway": {"memory": {"memoryBudgetChars": BUDGET}}, "agents": [entry]}
    (home / "config.json").write_text(json.dumps(text), "utf-8")
    return root


def title(text: str) -> None:
    click.echo("\n" + click.style(text, bold=True) + "\n")


def excerpt(text: str) -> str:
    """The memory section of a composed text, its first lines."""
    lines = text.splitlines()
    start = lines.index("--- LONG-TERM MEMORY ---")
    return "\n".join([*lines[start : start + 14], "…"])
