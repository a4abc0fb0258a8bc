"""What is to become of one file: pure, and made again on its own result it changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import Final

from attrs import evolve, field, frozen

from reverie_hookspecs import Op

from .draft import Cut, Draft
from .search import visible

LOSS: Final = 25
"""Percent of a file that one run may take from it."""
LOSS_OVER: Final = 90
"""The same for a file over its budget."""
PATIENCE: Final = 8
"""How often one op is held back at a time, before all that would be made once more are."""
NONE: Final[Mapping[int, str]] = MappingProxyType({})


@frozen
class Plan:
    """A new text, what leaves the old one, and for each op why it was held back, or ``""``."""

    text: str = field(repr=False)
    reasons: tuple[str, ...] = ()
    cuts: tuple[Cut, ...] = ()

    @property
    def applied(self) -> list[int]:
        """The indexes of the ops that are made."""
        return [index for index, reason in enumerate(self.reasons) if not reason]


def plan(text: str, ops: Sequence[Op], budget: int = 0) -> Plan:
    """Make the ops on a text, in their order; ``budget`` in characters, 0 for none.

    An op that would be made again on the result, and change it, is held back.

    >>> plan("- tea\\n- rye\\n", [Op("remove", "MEMORY.md", target="- tea"), Op("add", "MEMORY.md", "- oat")]).text
    '- tea\\n- rye\\n\\n- oat\\n'
    """
    barred: dict[int, str] = {}
    for turn in count():
        made = bounded(text, ops, budget, barred)
        again = bounded(made.text, [ops[index] for index in made.applied], budget)
        if again.text == made.text:
            return made
        for at in again.applied[-1:] if turn < PATIENCE else again.applied:
            barred[made.applied[at]] = "made once more it would change the file once more"
    raise AssertionError


def bounded(text: str, ops: Sequence[Op], budget: int, barred: Mapping[int, str] = NONE) -> Plan:
    """The ops made on a text, unless too much of it would go: then its adds alone, at the end."""
    over = 0 < budget < len(text)
    draft = Draft(text, over)
    reasons = fold(draft, ops, barred)
    rejected = excess(draft, text, LOSS_OVER if over else LOSS)
    if rejected:
        draft = Draft(text, over)
        others = {index: rejected for index, op in enumerate(ops) if op.op != "add"}
        reasons = fold(draft, [evolve(op, target="") for op in ops], others | dict(barred))
    return Plan(draft.text, reasons, tuple(draft.cuts))


def fold(draft: Draft, ops: Iterable[Op], barred: Mapping[int, str]) -> tuple[str, ...]:
    """Make the ops that are not barred; for each one why it was held back, or nothing."""
    return tuple(barred.get(index) or draft.make(op) for index, op in enumerate(ops))


def excess(draft: Draft, text: str, limit: int) -> str:
    """Why a rewrite is rejected as a whole, or nothing."""
    if visible(text) and not visible(draft.text):
        return "the rewrite was rejected, for nothing would be left of the file"
    if draft.lost * 100 > limit * len(text):
        share = f"{draft.lost:,} of {len(text):,} characters"
        return f"the rewrite was rejected: it would take {share}, and one run may take {limit} %"
    return ""
