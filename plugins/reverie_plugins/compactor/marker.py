"""Whether an entry is finished: read off its lead line alone, and in doubt it is not.

Two steps. A marker is looked for where one counts; then reasons are looked for why the entry lives on all the same:
work that is named as open, a rule that only works while it is read, a ✅ that means "works" or "may be done".
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from .lead import BLOT, Lead, read_lead, without_targets
from .vocabulary import (
    AFTERWARDS,
    CORRECTION,
    FINISHED,
    NEGATION,
    OPEN_SAID,
    OPEN_SHOUTED,
    OPEN_SIGNS,
    PARENT_FIELD,
    RULE,
    RULEBOOK,
    STATE_SAID,
    STATE_SHOUTED,
    pattern,
    words,
)

ARCHIVE: Final = "memory/archive/completed.md"
FAR: Final = 160
"""Characters, as read, after which a status word speaks of a part of a long lead."""

_UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_JOINED: Final = rf"(?:(?![{_UNSPACED}])\w)"
STATUS: Final = re.compile(rf"(?<!-)(?<!{_JOINED})(?:{'|'.join(FINISHED)})(?!{_JOINED})(?!-\w)")
POSSIBLE: Final = re.compile(rf"{'|'.join(FINISHED)}|✅|~~|\[[xX]\]")
"""What a marked lead holds somewhere; found in one pass over a whole text."""

_SENTENCE: Final = re.compile(r"(?<=[\w)\]*★`\x00]{2})[.!?。！？][*_★\"”)]*\s+")
_LATER: Final = re.compile(r"[\W_]*(?:[^\W\d_]+\s*[:：][\W_]*)?$")
_RATIO: Final = re.compile(r"\W{0,4}([0-9]{1,5})\s*/\s*([0-9]{1,5})(?![0-9/])")
_OPEN_BOX: Final = re.compile(r"\[ \]|^[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+\[[^\w\n]\](?=\s)", re.MULTILINE)
_FIELD: Final = re.compile(r"[ \t]\|[ \t]")
_NAMED: Final = re.compile(r"[*_]{0,3}([^:：\n]{1,40})(?:[:：][*_]{0,3}|[*_]{0,3}[:：])(?=\s|[^\x00-\x7f])")
_LEGEND: Final = re.compile(r"\s*(?:=|→|->|:|：|means?\b)")


class Verdict(NamedTuple):
    """What one entry is found to be: ``status`` is empty where it stays, and ``reason`` says why.

    ``before`` and ``after`` are the offsets in the lead's text around the marker.
    """

    status: str = ""
    reason: str = ""
    before: int = 0
    after: int = 0


def terminal(entry: str, path: tuple[str, ...] = (), *, crossed: bool = False) -> Verdict:
    """Whether an entry, given whole, is finished; ``path`` are the titles above it, ``crossed`` says that its section
    has entries that begin with a cross.

    >>> terminal("- Rent the van — DONE").status, terminal("- not DONE").status
    ('DONE', '')
    """
    line, _, body = entry.partition("\n")
    if ARCHIVE in line:
        return Verdict(reason="a pointer")
    lead = read_lead(line)
    verdict = marked(lead)
    if not verdict.status:
        return verdict
    ticked = verdict.status == "DONE" and not lead.ticked and not lead.struck and STATUS.match(lead.text, verdict.before) is None
    reason = unfinished(lead, body) or standing(lead) or (ticked and working(lead, path, crossed)) or ""
    return Verdict(reason=reason) if reason else verdict
