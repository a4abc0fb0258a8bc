"""A run, from its plan to its audit: stages fold one letter, and what came of it is written down."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from attrs import evolve

from reverie_hookspecs import (
    SCOPES,
    Applied,
    Dream,
    DreamSettings,
    MemorySettings,
    Mode,
    Move,
    Note,
    Op,
    Outcome,
    Proposal,
    ReverieError,
    Scope,
    SetAside,
    Settings,
    Size,
    Skipped,
    Stage,
    Usage,
)

from .ordering import arrange

logger = logging.getLogger(__name__)
AUDIT: Final = "audit"
VERIFY: Final = "verify"
CLOSING: Final = (VERIFY, AUDIT)
"""The kernel's own stages that belong to every run: each comes after whatever does not ask to come after it."""
PAGES: Final[dict[str, type]] = {
    "notes": Note,
    "moved": Move,
    "changed": str,
    "ops": Op,
    "applied": Applied,
    "skipped": Skipped,
    "aside": SetAside,
}
"""What each page of the letter holds."""
EVERY: Final[frozenset[Scope]] = frozenset(SCOPES)


def switched_off(settings: Settings) -> str:
    """Why an agent does not dream at all, or nothing."""
    dreaming = settings[DreamSettings]
    if not dreaming.enabled:
        return "dreaming.enabled is false"
    return "" if dreaming.max_changes_per_run else "dreaming.maxChangesPerRun is 0"


def plan(stages: Iterable[Stage], scopes: Collection[Scope], writing: bool) -> list[Stage]:
    """The stages of a run in order: those of the scopes, without the writing ones where nothing may be written.

    Verify goes after all that may move text, the audit after everything; but before whatever asks to follow them.
    """
    kept = [stage for stage in stages if admitted(stage, scopes, writing)]
    return arrange([settled(stage, kept) for stage in kept], rank=lambda stage: SCOPES.index(stage.scope))


def admitted(stage: Stage, scopes: Collection[Scope], writing: bool) -> bool:
    """Whether a stage belongs to this run."""
    if stage.name in CLOSING:
        return True
    return stage.scope in scopes and (writing or not stage.writes)


def settled(stage: Stage, stages: Sequence[Stage]) -> Stage:
    """The stage; a closing one with the names of all it comes after."""
    if stage.name not in CLOSING:
        return stage
    late = {stage.name, *followers(stages, *CLOSING[CLOSING.index(stage.name) :])}
    reach = SCOPES.index(stage.scope)
    early = [s.name for s in stages if s.name not in late and SCOPES.index(s.scope) <= reach]
    return evolve(stage, after=(*stage.after, *early))


def followers(stages: Sequence[Stage], *names: str) -> set[str]:
    """Some stages, and those that come after them, directly or by way of another."""
    late = {stage.name for stage in stages if stage.name in names}
    while more := {s.name for s in stages if s.name not in late and late & {*s.after}}:
        late |= more
    return late


def dream(letter: Dream, stages: Sequence[Stage], told: Callable[[Stage], None] = lambda stage: None) -> Dream:
    """A run: its stages fold the letter. Where a memory file cannot be read nothing runs but the audit, for a file
    that could not be read must not be taken for an empty one."""
    letter = closed_to_reading(letter)
    closed = fold(letter, from_audit(stages) if letter.failures else stages, told)
    return closed if closed.outcome else evolve(closed, outcome="error", reason=reason_of(closed, "error"))


def fold(dream: Dream, stages: Iterable[Stage], told: Callable[[Stage], None] = lambda stage: None) -> Dream:
    """Run the stages one after the other. One that fails leaves the letter as it found it, with a line saying so;
    once the run is closed, a failure is logged and changes nothing. What was taken back is not shared."""
    for stage in stages:
        if stage.scope == "share" and any(note.stage == VERIFY for note in dream.failures):
            dream = dream.note(stage.name, "left out, since the run was taken back")
            continue
        told(stage)
        dream = step(dream, stage)
    return dream


def step(dream: Dream, stage: Stage) -> Dream:
    """The letter after one stage."""
    try:
        page = stage.run(dream)
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        reason = worded(error)
        logger.warning("stage %s failed for %s: %s", stage.name, dream.agent.id, reason)
        logger.debug("stage %s failed", stage.name, exc_info=True)
        return dream if dream.outcome else dream.failed(stage.name, reason)
    if not isinstance(page, Dream):
        return dream.failed(stage.name, f"returned {type(page).__name__}, where a stage returns the Dream it was given")
    if flaw := spoilt(dream, page):
        return dream if dream.outcome else dream.failed(stage.name, flaw)
    return evolve(page, outcome=dream.outcome, reason=dream.reason) if dream.outcome else page


def worded(error: BaseException) -> str:
    """Why a stage failed, whatever it raised."""
    try:
        return str(error) if isinstance(error, ReverieError) else f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - it is a stranger's, and may not even have words
        return f"{type(error).__name__}, which cannot be worded"


def spoilt(dream: Dream, page: Dream) -> str:
    """What a stage did to the letter that no stage may do, or nothing: each adds a page, none erases one."""
    if (page.agent, page.run, page.mode, page.rehearsal) != (dream.agent, dream.run, dream.mode, dream.rehearsal):
        return "changed whose run this is; a stage adds to the letter and leaves the rest"
    for name, kind in PAGES.items():
        now = getattr(page, name)
        if not isinstance(now, tuple) or not all(isinstance(one, kind) for one in now):
            return f"left something in `{name}` that is no {kind.__name__}"
    if page.notes[: len(dream.notes)] != dream.notes:
        return "took back what others had noted; a stage adds to the letter"
    return "" if isinstance(page.usage, Usage) else "left no Usage in `usage`"


def closed_to_reading(dream: Dream) -> Dream:
    """The letter, with a failure on it for each memory file that is there and cannot be read."""
    for path in ("MEMORY.md", "USER.md"):
        snapshot = dream.agent.files.read(path)
        if snapshot.state == "unreadable":
            dream = dream.failed("gather", f"{path} cannot be read: {snapshot.reason}; nothing else was done")
    return dream


def from_audit(stages: Sequence[Stage]) -> list[Stage]:
    """What is left of a plan where nothing else may run: the audit, and what follows it."""
    late = followers(stages, AUDIT)
    return [stage for stage in stages if stage.name in late]


def measure(dream: Dream) -> Dream:
    """The page of sizes: each memory file against its budget, as reviewer, selector and applier will read it."""
    sizes = {}
    for path, budget in dream.agent.settings[MemorySettings].budgets.items():
        snapshot = dream.agent.files.read(path)
        sizes[path] = Size(len(snapshot.text), budget, snapshot.digest)
    return evolve(dream, sizes=sizes)


def propose(dream: Dream, ask: Callable[[Dream], list[Proposal]]) -> Dream:
    """The page of proposals: what every source of ideas wants changed, and what was set aside."""
    if dream.ops:
        return dream
    proposals = tuple(map(sound, ask(dream)))
    page = evolve(
        dream,
        proposals=proposals,
        ops=tuple(op for proposal in proposals for op in proposal.ops),
        aside=tuple(one for proposal in proposals for one in proposal.aside),
        sessions=max([dream.sessions, *(proposal.sessions for proposal in proposals)]),
    )
    for proposal in proposals:
        page = evolve(page, usage=page.usage + proposal.usage)
        if proposal.failure:
            page = page.failed("select", f"{proposal.source or 'a source'}: {proposal.failure}")
    return page


def sound(proposal: Proposal) -> Proposal:
    """The proposal without the ops that are none, which are a failure of its source."""
    ops = tuple(op for op in proposal.ops if well_formed(op))
    aside = tuple(one for one in proposal.aside if isinstance(one, SetAside) and well_formed(one.op))
    wrong = len(proposal.ops) + len(proposal.aside) - len(ops) - len(aside)
    if not wrong:
        return proposal
    failure = f"{wrong} of its ops are malformed and were dropped: a field holds what is no text or no number"
    return evolve(proposal, ops=ops, aside=aside, failure="; ".join(filter(None, [proposal.failure, failure])))


def well_formed(op: object) -> bool:
    """Whether every field of an op holds a value of its kind; a plugin made it."""
    if not isinstance(op, Op):
        return False
    texts = (op.op, op.file, op.content, op.target, op.topic, op.tier, op.reason, op.quote)
    numbers = (op.score, op.recall_count)
    return all(isinstance(text, str) for text in texts) and all(isinstance(number, int | float) for number in numbers)


def judge(dream: Dream) -> Outcome:
    """How a run ended: the first that fits."""
    if dream.failures:
        return "error"
    if dream.changed:
        return "applied"
    if dream.aside or len(dream.ops) > len(dream.applied) + len(dream.skipped):
        return "proposed"
    return "no-changes" if dream.excerpts or dream.reason or dream.ops else "skipped-empty"


def reason_of(dream: Dream, outcome: Outcome) -> str:
    """The outcome in a sentence, where there is more to say than its name."""
    if dream.reason and outcome != "error":
        return dream.reason
    if outcome == "error":
        return "; ".join(f"{note.stage}: {note.text}" for note in dream.failures)
    return "no transcript text, and nothing to change" if outcome == "skipped-empty" else ""


def mode_of(settings: Settings) -> Mode:
    return "auto" if settings[DreamSettings].mode == "auto" else "propose"
