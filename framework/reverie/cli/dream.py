"""reverie dream: run, log, show, undo"""

from __future__ import annotations

import logging
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import click

from reverie.diary import single

from . import account
from .deployment import AGENT, agent_argument, chosen, kernel
from .group import DefaultGroup
from .terminal import emit, progress, say, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

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
        done = dreamt(deployment, one, dry_run, told, agent)
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


def dreamt(
    deployment: Kernel, one: Agent, rehearsal: bool, told: Callable[[str], None], name: str = ""
) -> dict[str, Any]:
    """The account of a run, done in a process that is watched. One that comes to no account is closed here, whatever
    ended it, and what it left is told; ``name`` is how the agent was named."""
    from reverie.watch import watched

    begun: list[str] = []

    def work(begins: Callable[[Stage], None]) -> dict[str, Any]:
        dream = deployment.run(one, rehearsal=rehearsal, told=begins)
        return account.as_json(dream, account.changes(dream))

    def heard(stage: str) -> None:
        begun.append(stage)
        told(stage)

    try:
        return watched(work, heard)
    except BaseException as error:
        if rehearsal:
            say("Dry run: nothing was changed.", err=True)
        elif begun or not explained(error):
            mend(deployment, one, reason(error), name)
        raise


def explained(error: BaseException) -> bool:
    """Whether an error is a refusal; one from before the first stage is of a run that never began: another one that
    is under way must not be taken for it."""
    from reverie_hookspecs import ReverieError, RunKilled

    return isinstance(error, ReverieError) and not isinstance(error, RunKilled)


def reason(error: BaseException) -> str:
    """Why a run came to no account."""
    if isinstance(error, KeyboardInterrupt):
        return "the run was interrupted"
    return str(error) or type(error).__name__


def mend(deployment: Kernel, one: Agent, reason: str, name: str) -> None:
    """Put right what a run left that was ended, and say what that is; if it fails, the next run does it."""
    from reverie_hookspecs import ReverieError

    try:
        tell_closed(one, deployment.mend(one, reason), name)
    except ReverieError as error:
        logger.warning("what the run left is not mended yet, the next one will try again: %s", error)


def tell_closed(one: Agent, closed: Iterable[dict[str, Any]], name: str) -> None:
    """Say what runs left that were closed from outside."""
    from reverie.runlog import RunLog, taken_back

    back = taken_back(RunLog.of(one).runs())
    for line in closed:
        say(account.ended(line, name, line["run"] in back), err=True)


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
        say(f"{one.id} has not dreamt yet; `{account.worded('dream', agent)}` runs it now")
    else:
        table(("run", "started", "kind", "outcome", "files", "reason"), [row(line) for line in newest])


def row(line: dict[str, Any]) -> Sequence[object]:
    """A run in the columns of the log."""
    since = "taken back again" if line.get("kind") == "undo" else "since undone"
    outcome = f"{line.get('outcome')}{f', {since}' * line['undone']}"
    told = single(line.get("reason") or (f"takes back {line['undoes']}" if line.get("undoes") else ""))
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
    from reverie_hookspecs import NotFound

    _, one, line, name = which(ctx, words, named)
    if line is None:
        raise NotFound(
            f"no run of {one.id} that changed a file still stands; give the id of a run to see what it changed: "
            f"`{account.worded('dream log', name)}` lists them"
        )
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
    An undo is a run of its own: undoing it, by its id, brings the changes again. Without RUN the run is the newest one
    that stands, also where that one was refused before: an older one is taken back by its id.
    """
    from reverie import undo
    from reverie.runlog import RunLog

    deployment, one, line, name = which(ctx, words, named, mending=not dry_run)
    target = (line or RunLog.of(one).standing())["run"]
    with onward(one, target, name):
        undone = deployment.undo(one, target, rehearsal=dry_run)
    told = account.undone(undone, undo.changes(account.folder(one), target), one.settings)
    if as_json:
        emit(told)
        return
    account.tell_undone(told, dry_run, name)


@contextmanager
def onward(one: Agent, target: str, name: str) -> Iterator[None]:
    """Have a refusal of the newest run say how to take back an older one: without an id it is the newest each time."""
    from reverie.runlog import RunLog
    from reverie_hookspecs import Refused

    try:
        yield
    except Refused as error:
        runs = RunLog.of(one)
        newest, older = runs.newest(), runs.newest(before=target)
        if not newest or not older or newest["run"] != target:
            raise
        command = account.worded("dream undo", name, older["run"])
        raise Refused(
            f"{error}\nIt stays in the log, and without an id it is tried again. An older run is taken back by its id: "
            f"`{command}`"
        ) from error


Found = tuple["Kernel", "Agent", "dict[str, Any] | None", str]
"""What words mean: the deployment, the agent, the run (None where none was named and none stands), and the word that
names the agent, empty where none is needed."""


def which(ctx: click.Context, words: tuple[str, ...], named: str, *, mending: bool = False) -> Found:
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
        tell_closed(one, deployment.mend(one), name)
    return deployment, one, found(one, run, name) if run else RunLog.of(one).newest(), name


def found(one: Agent, run: str, name: str) -> dict[str, Any]:
    """The run of an agent whose id begins so."""
    from reverie.runlog import RunLog
    from reverie_hookspecs import NotFound

    try:
        return RunLog.of(one).find(run)
    except NotFound:
        log = account.worded("dream log", name)
        raise NotFound(f"no run of {one.id} has an id that begins with {run!r}; `{log}` lists them") from None


def owner(deployment: Kernel, run: str) -> Found:
    """The configured agent whose run log holds the run."""
    from reverie.runlog import RunLog
    from reverie_hookspecs import NotFound

    for one in deployment.agents():
        try:
            return deployment, one, RunLog.of(one).find(run), ""
        except NotFound:
            continue
    raise NotFound(f"{run!r} is no agent, no workspace and no run; `reverie dream log` with an agent lists its runs")
