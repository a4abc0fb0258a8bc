"""Where a hidden character does its work: between which letters, signs and emoji it stands."""

from __future__ import annotations

import re
from typing import Final

ZWSP, ZWNJ, ZWJ, LRM, RLM, VS16 = "\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\ufe0f"
FLAG: Final = "\U0001f3f4"
REGION: Final = re.compile("[\U000e0061-\U000e007a]{2}[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,3}\U000e007f")
"""The tags of a flag: a country, a part of it, and the end."""
EMOJI: Final = re.compile(
    "[\xa9\xae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe\u2600-\u27bf\u2934\u2935"
    "\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
SPACELESS: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f]")
"""Thai, Lao, Khmer and Burmese: words are not parted by blanks, but may be by U+200B."""
JOINING: Final = re.compile(
    "[\u0620-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\u1820-\u18aa\u1a20-\u1aaf\u1b00-\u1bff\u1c00-\u1c4f"
    "\ua840-\ua87f\ua8e0-\ua8ff\ua980-\ua9df\uaa60-\uaa7f\uabc0-\uabff\ufb50-\ufdff\ufe70-\ufefc"
    "\U00010ac0-\U00010aff\U00010b80-\U00010baf\U00010d00-\U00010d3f\U00010f30-\U00010fdf\U00011000-\U0001173f"
    "\U0001e900-\U0001e95f]"
)
"""Scripts whose letters change shape by their neighbours: Arabic and its kin, Mongolian, the Indic ones."""


def wanted(before: str, run: str, after: str) -> str:
    """What is to be kept of a run of hidden characters, between the characters beside it.

    >>> wanted("a", "\\u200d", "b"), wanted("\\u0915", "\\u200d", "\\u0937")
    ('', '\\u200d')
    """
    if before == FLAG and (region := REGION.match(run)):
        return region[0]
    if run[0] == VS16 and (EMOJI.match(before) or is_keycap(before, run, after)):
        return run if run == VS16 + ZWJ and EMOJI.match(after) else VS16
    if len(run) == 1 and joins(before, run, after):
        return run
    first = run[0] if run[0] in (LRM, RLM) and is_right_to_left(before) else ""
    rest = run[len(first) :]
    return first + (rest[-1] if rest and rest[-1] in (LRM, RLM) and is_right_to_left(after) else "")


def joins(before: str, mark: str, after: str) -> bool:
    """Whether one joiner does its work between these two."""
    if mark == ZWJ and EMOJI.match(before) and EMOJI.match(after):
        return True
    script = {ZWJ: JOINING, ZWNJ: JOINING, ZWSP: SPACELESS}.get(mark)
    return script is not None and all(script.match(side) and is_letter(side) for side in (before, after))


def is_keycap(before: str, run: str, after: str) -> bool:
    return run == VS16 and before != "" and before in "0123456789#*" and after == "\u20e3"


def is_letter(character: str) -> bool:
    """A letter, or a mark that belongs to one."""
    from unicodedata import category

    return category(character)[0] in "LM"


def is_right_to_left(character: str) -> bool:
    """A letter of a right-to-left script, or a mark on one."""
    from unicodedata import bidirectional

    if not character or not is_letter(character):
        return False
    return bidirectional(character) in ("R", "AL") or "\u0591" <= character <= "\u08ff"
