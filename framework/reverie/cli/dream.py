"""reverie dream: run, log, show, undo"""

from __future__ import annotations

import logging
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import click

from . import account
from .deployment import AGENT, agent_argument, chosen, kernel
from .group import DefaultGroup
from .terminal import emit, progress, say, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reverie.kernel import Kernel
    from reverie_hookspecs import Agent, Stage

logger = logging.getLogger(__name__)


@click.group("dream", cls=DefaultGroup)
def command() -> None:
    """Consolidate an agent's memory now; see, and take back, what a run did.

    `reverie dream AGENT` is short for `reverie dream run AGENT`.
    """


@command.command()
@agent_argument
@click.option("--dry-run", is_flag=True, help="Show what a run would change, whatever the mode; change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_context
def run(ctx: click.Context, agent: str, dry_run: bool, as_json: bool) -> None:
    """Dream now: move what is finished out of MEMORY.md, make the ops that were proposed, write down what was done."""
    deployment, one = chosen(ctx, agent)
    with progressing(f"{one.id} dreams") as told:
        done = dreamt(deployment, one, dry_run, told)
    if as_json:
        emit(done)
    else:
        account.tell(done, bool(ctx.find_root().params.get("quiet")), agent)
    ctx.exit(1 if done["outcome"] == "error" else 0)


@contextmanager
def progressing(text: str) -> Iterator[Callable[[str], None]]:
    """Progress that shows from the first stage on: what draws it is a thread, and none may be there at a fork."""
    with ExitStack() as stack:
        shown: list[Callable[[str], None]] = []

        def told(stage: str) -> None:
            if not shown:
                shown.append(stack.enter_context(progress(text)))
            shown[0](stage)

        yield told


def dreamt(deployment: Kernel, one: Agent, rehearsal: bool, told: Callable[[str], None]) -> dict[str, Any]:
    """The account of a run, done in a process that is watched. One that is killed or interrupted is closed here."""
    from reverie.watch import watched
    from reverie_hookspecs import RunKilled

    def work(begins: Callable[[Stage], None]) -> dict[str, Any]:
        dream = deployment.run(one, rehearsal=rehearsal, told=begins)
        return account.as_json(dream, account.changes(dream))

    try:
        return watched(work, told)
    except (RunKilled, KeyboardInterrupt) as error:
        if not rehearsal:  # which left nothing
            mend(deployment, one, str(error) or "the run was interrupted")
        raise


def mend(deployment: Kernel, one: Agent, reason: str) -> None:
    """Put right what a run left that was ended; if that fails, the next run does it."""
    from reverie_hookspecs import ReverieError

    try:
        deployment.mend(one, reason)
    except ReverieError as error:
        logger.warning("what the run left is not mended yet, the next one will try again: %s", error)


@command.command()
@agent_argument
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many runs.")
@click.option("--json", "as_json", is_flag=True, help="Print the runs as JSON.")
@click.pass_context
def log(ctx: click.Context, agent: str, limit: int, as_json: bool) -> None:
    """List the runs of an agent, newest first."""
    from reverie.runlog import RunLog, taken_back

    _, one = chosen(ctx, agent)
    runs = RunLog.of(one).runs()
    undone = taken_back(runs)
    newest = [{**line, "undone": line["run"] in undone} for line in reversed(runs)][:limit]
    if as_json:
        emit(newest)
    elif not newest:
        say(f"{one.id} has not dreamt yet; `{account.worded('reverie dream', agent)}` runs it now")
    else:
        table(("run", "started", "kind", "outcome", "files", "reason"), [row(line) for line in newest])


def row(line: dict[str, Any]) -> Sequence[object]:
    """A run in the columns of the log."""
    outcome = f"{line.get('outcome')}{', since undone' if line['undone'] else ''}"
    told = line.get("reason") or (f"takes back {line['undoes']}" if line.get("undoes") else "")
    started = str(line.get("started"))[:16].replace("T", " ")
    return line["run"], started, line.get("kind"), outcome, len(line.get("changed") or ()), told


@command.command()
@click.argument("words", nargs=-1, metavar="[AGENT|PATH] [RUN]")
@click.option("--agent", "named", default="", metavar="AGENT|PATH", help=AGENT)
@click.option("--json", "as_json", is_flag=True, help="Print before and after of each file as JSON.")
@click.pass_context
def show(ctx: click.Context, words: tuple[str, ...], named: str, as_json: bool) -> None:
    """Show what a run changed, as a diff; without RUN the newest that still stands."""
    from reverie import undo

    _, one, line = which(ctx, words, named)
    files = account.files(undo.changes(account.folder(one), line["run"]), one.settings)
    if as_json:
        emit({**line, "files": files})
        return
    told = f"  {line['reason']}" if line.get("reason") else ""
    say(f"{line['run']}  {line.get('kind')}  {line.get('outcome')}{told}")
    account.show(files)


@command.command("undo")
@click.argument("words", nargs=-1, metavar="[AGENT|PATH] [RUN]")
@click.option("--agent", "named", default="", metavar="AGENT|PATH", help=AGENT)
@click.option("--dry-run", is_flag=True, help="Show what would be restored; change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_context
def take_back(ctx: click.Context, words: tuple[str, ...], named: str, dry_run: bool, as_json: bool) -> None:
    """Take back what a run did to every file; without RUN the newest that still stands.

    A file that is as the run left it is restored byte for byte; one edited since is merged, so that the edit stays and
    the run's change goes. Where both changed the same lines nothing at all is restored, and both versions are shown.
    An undo is a run of its own: `reverie dream undo RUN` with its id brings the changes again.
    """
    deployment, one, line = which(ctx, words, named, mending=not dry_run)
    undone = deployment.undo(one, line["run"], rehearsal=dry_run)
    if as_json:
        emit(undone)
        return
    for path in undone["changed"]:
        gone = not dry_run and one.files.read(path).state == "missing" and not path.startswith("/")
        say(f"{path}: {'would be restored' if dry_run else 'removed again' if gone else 'restored'}")
    if not dry_run:
        named = named or (words[0] if words and words[0] != line["run"] else "")
        again = account.worded("reverie dream undo", named if named != undone["run"] else "", undone["run"])
        say(f"{line['run']} is taken back; `{again}` brings it again")


def which(
    ctx: click.Context, words: tuple[str, ...], named: str, *, mending: bool = False
) -> tuple[Kernel, Agent, dict[str, Any]]:
    """The deployment, the agent and the run that the words mean.

    One word is an agent if one is called so or a workspace lies there, and a run otherwise. A run's id is looked up
    with every configured agent where none is named.
    """
    from reverie.runlog import RunLog
    from reverie_hookspecs import UnknownAgent

    if len(words) > 2 - bool(named):
        raise click.UsageError("give at most an agent and a run")
    deployment = kernel(ctx)
    run = words[-1] if len(words) == 2 or (named and words) else ""
    name = named or (words[0] if words else "")
    try:
        one = deployment.agent(name)
    except UnknownAgent:
        if len(words) != 1 or named:
            raise
        return owner(deployment, words[0])
    if mending:
        deployment.mend(one)
    runs = RunLog.of(one)
    return deployment, one, runs.find(run) if run else runs.standing()


def owner(deployment: Kernel, run: str) -> tuple[Kernel, Agent, dict[str, Any]]:
    """The configured agent whose run log holds the run."""
    from reverie.runlog import RunLog
    from reverie_hookspecs import NotFound

    for one in deployment.agents():
        try:
            return deployment, one, RunLog.of(one).find(run)
        except NotFound:
            continue
    raise NotFound(f"{run!r} is no agent, no workspace and no run; `reverie dream log AGENT` lists runs")
