"""reverie status"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from reverie.audit import BEGUN

from .deployment import agent_argument, kernel
from .terminal import budget, emit, plain, say

if TYPE_CHECKING:
    from reverie.kernel import Kernel
    from reverie_hookspecs import Agent


@click.command("status")
@agent_argument
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.pass_context
def command(ctx: click.Context, agent: str, as_json: bool) -> None:
    """Show, for one agent or for all, mode, sizes against budgets, and how the last run ended."""
    deployment = kernel(ctx)
    agents = [deployment.agent(agent)] if agent or not deployment.config.agents else deployment.agents()
    told = [state(deployment, one) for one in agents]
    if as_json:
        emit(told)
        return
    for one in told:
        tell(one)
    for row in deployment.rows:
        if row.state == "failed":
            say(f"plugin {row.name} is left out: {row.reason}")


def state(deployment: Kernel, agent: Agent) -> dict[str, Any]:
    """What is known of an agent; sizes in characters."""
    from reverie import night
    from reverie.runlog import RunLog

    runs = RunLog.of(agent).runs()
    dreams = [line for line in runs if line.get("kind") == "dream"]
    return {
        "agent": agent.id,
        "workspace": str(agent.files.root),
        "mode": night.mode_of(agent.settings),
        "off": night.switched_off(agent.settings),
        "files": [measured(agent, path) for path in ("MEMORY.md", "USER.md")],
        "lastRun": runs[-1] if runs else None,
        "lastSkip": next((r for r in reversed(dreams) if str(r.get("outcome")).startswith("skipped-")), None),
        "failures": failures(dreams),
    }


def failures(dreams: list[dict[str, Any]]) -> int:
    """How many of the newest dreams in a row ended in error."""
    count = 0
    for line in reversed([line for line in dreams if line.get("outcome") != BEGUN]):
        if line.get("outcome") != "error":
            break
        count += 1
    return count


def ending(line: dict[str, Any]) -> str:
    """How a run ended, or that it has not."""
    if line.get("outcome") == BEGUN:
        return f"{line.get('kind')} under way since {line.get('started')}, or killed: the next run tells"
    reason = f" ({line['reason']})" if line.get("reason") else ""
    return f"{line.get('ended')} {line.get('kind')}: {line.get('outcome')}{reason}"


def measured(agent: Agent, path: str) -> dict[str, Any]:
    """A memory file against its budget; length is null where it cannot be read."""
    from reverie_hookspecs import MemorySettings

    limit = agent.settings[MemorySettings].budgets[path]
    snapshot = agent.files.read(path)
    length = None if snapshot.state == "unreadable" else len(snapshot.text)
    over = length is not None and 0 < limit < length
    return {"path": path, "length": length, "budget": limit, "over": over, "reason": snapshot.reason}


def tell(one: dict[str, Any]) -> None:
    """Print an agent's state for a person."""
    off = f", switched off: {one['off']}" if one["off"] else ""
    say(f"  {one['workspace']}\n  dreaming: {one['mode']}{off}", head=click.style(plain(one["agent"]), bold=True))
    for file in one["files"]:
        told = f"cannot be read: {file['reason']}" if file["length"] is None else budget(file["length"], file["budget"])
        say(f"  {file['path']}: {told}{', over budget' if file['over'] else ''}")
    for label, key in (("last run", "lastRun"), ("last skip", "lastSkip")):
        if (line := one[key]) and not (key == "lastSkip" and line == one["lastRun"]):
            say(f"  {label}: {ending(line)}")
    if not one["lastRun"]:
        say("  last run: never")
    if one["failures"] > 1:
        say(f"  the last {one['failures']} dreams failed")
