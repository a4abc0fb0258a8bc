"""The selector: which of the ops that were proposed tonight are taken, and why the others are not."""

from __future__ import annotations

from collections import Counter
from math import ceil
from typing import TYPE_CHECKING, Final

from attrs import define, evolve

from reverie_hookspecs import DreamSettings, MemorySettings, Plugin, SetAside, hookimpl

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from reverie_hookspecs import Dream, Op, Proposal, Size

HARDEST: Final = 30
"""Ops that shrink a file over its budget are never more than that in one run, unless maxChangesPerRun is."""


@define(eq=False)
class OpSelector(Plugin):
    """Keeps a night small: caps, thresholds, and room for what shrinks a file over its budget."""

    blocks = (DreamSettings, MemorySettings)

    @hookimpl(wrapper=True)
    def select_ops(self, dream: Dream) -> Generator[None, list[Proposal], list[Proposal]]:
        proposals = yield
        settings = dream.agent.settings
        return select(proposals, settings[DreamSettings], dream.sizes, settings[MemorySettings].write_routing)


def select(
    proposals: Sequence[Proposal], limits: DreamSettings, sizes: Mapping[str, Size], routing: bool = False
) -> list[Proposal]:
    """The proposals with the ops that are taken, in their order; the others are set aside with a reason.

    The counts run over all proposals. ``sizes`` are the memory files against their budgets.
    """
    taken: Counter[bool] = Counter()
    chosen = []
    for proposal in proposals:
        ops: list[Op] = []
        aside: list[SetAside] = []
        for op in proposal.ops:
            size = sizes.get(op.file)
            if reason := unfit(op, limits, routing) or crowded(op, size, limits.max_changes_per_run, taken):
                aside.append(SetAside(op, reason))
            else:
                ops.append(op)
                taken[shrinks(op, size)] += 1
        chosen.append(evolve(proposal, ops=tuple(ops), aside=(*proposal.aside, *aside)))
    return chosen


def unfit(op: Op, limits: DreamSettings, routing: bool) -> str:
    """Why an op is not taken, whatever else was proposed; or nothing."""
    if op.tier == "episodic":
        return "" if routing else "memory.writeRouting is off, so there are no episodic notes"
    if op.op != "add":
        return ""
    if not op.score >= limits.promotion_threshold > 0 and limits.promotion_threshold:  # a score may be no number
        return f"its score {op.score:g} is below dreaming.promotionThreshold {limits.promotion_threshold:g}"
    if op.recall_count < limits.min_recall_count:
        return f"stated {op.recall_count} times; dreaming.minRecallCount asks for {limits.min_recall_count}"
    return "unverified: its quote stands in no excerpt" if op.unverified else ""


def crowded(op: Op, size: Size | None, most: int, taken: Mapping[bool, int]) -> str:
    """Why there is no room left for an op, or nothing; ``taken`` counts those before it, True for shrinking ones."""
    if not shrinks(op, size):
        return f"beyond dreaming.maxChangesPerRun {most}" if taken[False] >= most else ""
    assert size is not None
    room = max(most, min(most * ceil(size.ratio), HARDEST))
    return f"beyond the {room} ops that may shrink {op.file} in one run" if taken[True] >= room else ""


def shrinks(op: Op, size: Size | None) -> bool:
    """Whether an op makes a file shorter that is over its budget."""
    if size is None or not size.over or op.tier == "episodic":
        return False
    return op.op == "remove" or (op.op == "replace" and len(op.content.strip()) <= len(op.target))
