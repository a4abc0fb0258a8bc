"""reverie compose"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie_hookspecs import Refused

from .deployment import agent_argument, chosen
from .terminal import say

if TYPE_CHECKING:
    from reverie.composition import Composed


@click.command("compose")
@agent_argument
@click.option("--stdout", is_flag=True, help="Print the text and write nothing.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if CLAUDE.md is not up to date.")
@click.option("--json", "as_json", is_flag=True, help="Report sizes, cuts and removals as JSON; write nothing.")
@click.pass_context
def command(ctx: click.Context, agent: str, stdout: bool, check: bool, as_json: bool) -> None:
    """Compose an agent's CLAUDE.md from the files of its workspace.

    It is written beside them, by an atomic replace, and only when the text differs. A CLAUDE.md that was written by
    hand is copied to .dreaming/backups first.
    """
    if stdout + check + as_json > 1:
        raise click.UsageError("--stdout, --check and --json exclude each other; give one of them")
    deployment, one = chosen(ctx, agent)
    composed = deployment.composed(one)
    if not composed.parts:
        raise Refused("no plugin offers a section, so there is nothing to compose; `reverie plugins` shows why")
    if as_json:
        from .terminal import emit

        emit(report(composed))
    elif stdout:
        click.echo(composed.text, nl=False)
    elif check:
        compare(ctx, one.files.root / "CLAUDE.md", composed.text)
    else:
        write(one.files.root / "CLAUDE.md", composed, bool(ctx.find_root().params.get("quiet")))


def report(composed: Composed) -> dict[str, object]:
    """Sizes in characters and estimated tokens, by section, with what was cut, escaped and removed, and why."""
    from attrs import asdict

    return {
        "characters": len(composed.text),
        "tokens": sum(part.tokens for part in composed.parts),
        "sections": [asdict(part) for part in composed.parts],
    }


def compare(ctx: click.Context, file: Path, text: str) -> None:
    """Exit 1 unless the file holds exactly this text."""
    try:
        current = file.read_bytes() == text.encode("utf-8")
    except OSError:
        current = False
    say(f"{file} is up to date" if current else f"{file} is not what would be composed; `reverie compose` it")
    if not current:
        ctx.exit(1)


def write(file: Path, composed: Composed, quiet: bool) -> None:
    """Write the text if it differs, and say what happened."""
    from reverie import composition

    written = composition.write(file, composed.text)
    if written.kept:
        say(f"The CLAUDE.md that stood there was not composed; it is kept as {written.kept}", err=True)
    if quiet:
        return
    tokens = sum(part.tokens for part in composed.parts)
    say(f"{file}: {written.outcome}, {len(composed.text):,} characters, about {tokens:,} tokens")
    for part in composed.parts:
        for note in part.notes:
            say(f"  {part.title}: {note}")
