"""reverie index"""

from __future__ import annotations

from typing import Any

import click

from .deployment import agent_argument, kernel
from .search import archive_of
from .terminal import emit, say


@click.command("index")
@agent_argument
@click.option("--full", is_flag=True, help="Build the index anew, whatever is unchanged.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_context
def command(ctx: click.Context, agent: str, full: bool, as_json: bool) -> None:
    """Bring the index of an agent, or of all, up to date."""
    deployment = kernel(ctx)
    agents = [deployment.agent(agent)] if agent or not deployment.config.agents else deployment.agents()
    told: list[dict[str, Any]] = []
    for one in agents:
        archive_of(deployment, one)
        letter = deployment.index(one.corpus, full)
        counts = {"changed": len(letter.changed), "vanished": len(letter.vanished), "unchanged": letter.unchanged}
        told.append({"agent": one.id, **counts, "reports": list(letter.reports)})
    if as_json:
        emit(told)
        return
    for line in told:
        say(f"{line['agent']}: {line['changed']} changed, {line['vanished']} gone, {line['unchanged']} unchanged")
        for report in line["reports"]:
            say(f"  {report}")
