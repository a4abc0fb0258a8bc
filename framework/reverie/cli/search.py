"""reverie search"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .deployment import AGENT, chosen
from .terminal import emit, plain, say

if TYPE_CHECKING:
    from reverie.kernel import Kernel
    from reverie_hookspecs import Agent, Archive, Hit


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option("--agent", "named", default="", metavar="AGENT|PATH", help=AGENT)
@click.option("--limit", type=click.IntRange(1, 20), default=6, show_default=True, help="How many passages.")
@click.option("--explain", is_flag=True, help="Show how the query is understood, and why passages come in that order.")
@click.option("--json", "as_json", is_flag=True, help="Print the passages as JSON.")
@click.pass_context
def command(ctx: click.Context, query: tuple[str, ...], named: str, limit: int, explain: bool, as_json: bool) -> None:
    """Find passages in an agent's memory; any text is a query."""
    deployment, one = chosen(ctx, named)
    archive, words = archive_of(deployment, one), " ".join(query)
    if explain:
        for line in archive.explain(one.corpus, words, limit):
            say(line)
        return
    hits = archive.search(one.corpus, words, limit)
    if as_json:
        from attrs import asdict

        emit([asdict(hit) for hit in hits])
        return
    for hit in hits:
        tell(hit)
    if not hits:
        say("nothing was found")


def archive_of(deployment: Kernel, agent: Agent) -> Archive:
    """The archive of an agent; Refused where it is off."""
    from reverie_hookspecs import Refused, archive_off

    off = archive_off(agent.settings)
    if off or deployment.archive is None:
        raise Refused(f"the archive of {agent.id} is off: {off or 'no active plugin provides one'}; switch it on first")
    return deployment.archive


def tell(hit: Hit) -> None:
    """Print a passage for a person: where it stands, then what it says."""
    place = f"{hit.path}:{hit.start_line}" + (f"-{hit.end_line}" if hit.end_line > hit.start_line else "")
    gone = f"  (no longer valid since {hit.invalid_at:%Y-%m-%d})" if hit.invalid_at else ""
    trail = f"  {' › '.join(hit.headings)}" if hit.headings else ""
    say(f"{plain(trail)}{gone}", head=click.style(plain(place), bold=True))
    for line in hit.snippet.splitlines():
        say(f"  {line}")
