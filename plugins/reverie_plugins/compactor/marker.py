"""Whether an entry is finished: read off its lead line alone, and in doubt it is not.

Two steps. A marker is looked for where one counts; then reasons are looked for why the entry lives on all the same:
work that is named as open, a rule that only works while it is read, a ✅ that means "works" or "may be done".
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final, Literal, NamedTuple

from reverie.markdown.line import unified

from .lead import BLOT, Lead, read_lead
from .vocabulary import (
    AFTER,
    BEFORE,
    BEFORE_UNSPACED,
    EXPLAINS,
    EXPLAINS_UNSPACED,
    FINISHED,
    NOT_SAID,
    NOT_UNSPACED,
    OPEN_SAID,
    OPEN_SHOUTED,
    OPEN_SIGNS,
    OPEN_UNSPACED,
    RULE_BEGUN,
    RULE_SAID,
    RULE_SHOUTED,
    RULE_UNSPACED,
    RULEBOOK,
    RULEBOOK_UNSPACED,
    STATE_FIELD,
    STATE_SAID,
    STATE_SHOUTED,
    STATE_UNSPACED,
    either,
    pattern,
    said,
    words,
)

SOURCE: Final = "MEMORY.md"
ARCHIVE: Final = "memory/archive/completed.md"
FAR: Final = 160
"""Characters, as read, after which a status word speaks of a part of a long lead."""
LONGEST: Final = 8_000
"""Characters of a lead; a longer one is a text of its own, and stays."""
MOST_WORDS: Final = 20

_UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_JOINED: Final = rf"(?:(?![{_UNSPACED}])\w)"
_WORD: Final = either(FINISHED)
STATUS: Final = re.compile(rf"(?<!-)(?<!{_JOINED})(?:{_WORD})(?!{_JOINED})(?!-\w)")
POSSIBLE: Final = re.compile(rf"{_WORD}|✅|~~|\[[xX]\]")
"""What a marked lead holds somewhere; found in one pass over a whole text."""

_SENTENCE: Final = re.compile(r"(?<=[\w)\]*★`\x00]{2})[.!?。！？][*_★\"”)]*\s+")
_LATER: Final = re.compile(r"[\W_]*(?:[^\W\d_]+\s*[:：][\W_]*)?$")
_SIGILS: Final = ("=", "$", "@", "#", ".")
_ONE_WORD: Final = r"\s*(?:(?<=\s)\w+\s+)?$"
_ASKED: Final = re.compile(r"\s*[?？]|[=(]|\.\w|\s*(?:=|:=|==|≠)\s")
_VALUES: Final = re.compile(r"(?:[A-Z]{3,}\s*[/|,]\s*){2,}[A-Z]{3,}")
_RATIO: Final = re.compile(r"\W{0,4}([0-9]{1,5})\s*/\s*([0-9]{1,5})(?![0-9/])")
_PLURAL: Final = re.compile(r" +[a-z][a-z-]*[^s\W]s\b")
_ALONE: Final = re.compile(r"\W*[)）]|[^()（）]*[)）][*_★]*\s*(?:$|[—–:：.;-])")
_OPEN_BOX: Final = re.compile(r"\[ \]|^[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+\[[^\w\n]\](?=\s)", re.MULTILINE)
_ITEM: Final = r"^[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?[*_]{0,3}"
_CLAUSE: Final = r"(?:^|[.:;!?—–(（,]\s*|[*_★⚠️•]\s*)"
_FIELD: Final = re.compile(r"[ \t]\|[ \t]")
_NAMED: Final = re.compile(r"[*_]{0,3}([^:：\n]{1,40})(?:[:：][*_]{0,3}|[*_]{2,3}[:：])(?=\s|[^\x00-\x7f])")
_ASIDE: Final = re.compile(r"[(（][^()（）]*[)）]")
_LEGEND: Final = re.compile(r"\s*(?:=|→|->|:|：|means?\b)")

Sign = Literal["", "word", "box", "strike", "tick"]


class Verdict(NamedTuple):
    """What one entry is found to be: ``status`` is empty where it stays, and ``reason`` says why.

    ``sign`` is what it is marked with, ``before`` and ``after`` are the offsets in the lead's text around it.
    """

    status: str = ""
    reason: str = ""
    sign: Sign = ""
    before: int = 0
    after: int = 0


def terminal(entry: str, path: tuple[str, ...] = (), *, crossed: bool = False) -> Verdict:
    """Whether an entry, given whole, is finished; ``path`` are the titles above it, ``crossed`` says that entries
    beside it begin with a cross.

    >>> terminal("- Rent the van — DONE").status, terminal("- not DONE").status
    ('DONE', '')
    """
    line, _, body = unified(entry).partition("\n")
    if ARCHIVE in line:
        return Verdict(reason="a pointer")
    if len(line) > LONGEST:
        return Verdict(reason="too long to judge")
    lead = read_lead(line)
    verdict = marked(lead)
    if not verdict.status:
        return verdict
    reason = unfinished(lead, body) or standing(lead, verdict) or partial(lead, verdict)
    if not reason and verdict.sign == "tick":
        reason = "beside crosses" if crossed else working(lead, path)
    return Verdict(reason=reason) if reason else verdict


def marked(lead: Lead) -> Verdict:
    """The marker a lead bears, where it counts as one."""
    if lead.box is not None and not lead.ticked:
        return Verdict(reason="an open box")
    word = status_word(lead)
    if word.status:
        return word
    if lead.ticked:
        return Verdict("DONE", sign="box")
    if lead.struck:
        return Verdict("DONE", sign="strike", after=lead.struck)
    if lead.tick:
        return Verdict("DONE", sign="tick", after=lead.tick)
    if lead.last_tick >= 0:
        return Verdict("DONE", sign="tick", before=lead.last_tick, after=len(lead.text))
    return word if word.reason else Verdict(reason="no marker")


def status_word(lead: Lead) -> Verdict:
    """The first status word that is said of the whole entry."""
    reason = ""
    for word in islice(STATUS.finditer(lead.view), MOST_WORDS):
        reason = spoken_of(lead.view, word) or elsewhere(lead.view, word) or unclear(lead, word)
        if not reason:
            return Verdict(word[0], sign="word", before=word.start(), after=word.end())
    return Verdict(reason=reason)


def spoken_of(view: str, word: re.Match[str]) -> str:
    """Why the word is spoken of and not said: denied, asked about, defined, one of a list of values."""
    before = view[max(0, word.start() - 60) : word.start()].lower()
    if before[-1:] in _SIGILS or said(BEFORE, BEFORE_UNSPACED, after=_ONE_WORD).search(before):
        return "the word is denied"
    if _ASKED.match(view, word.end()) or pattern(rf"\s+(?:{either(AFTER)})\b").match(view.lower(), word.end()):
        return "the word has a condition"
    if any(values.start() <= word.start() < values.end() for values in _VALUES.finditer(view)):
        return "a list of values"
    return ""


def elsewhere(view: str, word: re.Match[str]) -> str:
    """Why the word speaks of a part: in a parenthesis, in a later sentence, far into a long lead."""
    before, after = view[: word.start()], view[word.end() :]
    opening = max(before.rfind("("), before.rfind("（"))
    if opening > max(before.rfind(")"), before.rfind("）")):
        bare = not any(character.isalnum() for character in before[opening:])
        return "" if bare and _ALONE.match(view, word.end()) else "in a parenthesis"
    if not any(character.isalnum() for character in after):
        return ""
    sentences = [sentence.end() for sentence in _SENTENCE.finditer(before)]
    if sentences and not _LATER.fullmatch(before, sentences[-1]):
        return "in a later sentence"
    return "far into the lead" if len(before.replace(BLOT, "")) > FAR else ""


def unclear(lead: Lead, word: re.Match[str]) -> str:
    """Why the capitals of the word say nothing: all is in capitals, or it is an adjective of what follows."""
    before, after = lead.view[: word.start()], lead.view[word.end() :]
    first = not any(character.isalnum() for character in before)
    if first and word[0] != "DONE" and _PLURAL.match(after):
        return "an adjective"
    letters = [character for character in STATUS.sub("", lead.view) if character.lower() != character.upper()]
    apart = before.rstrip(" *_").endswith(("—", "–", ":", "-", "(", "：")) or not after.strip(" *_.")
    shouted = len(letters) > 5 and all(character.isupper() for character in letters)
    return "all in capitals" if shouted and not apart else ""


def unfinished(lead: Lead, body: str) -> str:
    """Why work is still open: a box, a sign or a word of open work in the lead, a box or heading of it in the body."""
    if _OPEN_BOX.search(lead.text) or _OPEN_BOX.search(body):
        return "an open box"
    if any(sign in lead.text for sign in OPEN_SIGNS):
        return "a sign of open work"
    spoken = lead.spoken
    if words(OPEN_SHOUTED).search(spoken) or said(OPEN_SAID, OPEN_UNSPACED).search(spoken.lower()):
        return "open work in the lead"
    headed = rf"(?m:{_ITEM}(?:[{OPEN_SIGNS}]|(?:{either(OPEN_SHOUTED)})\b))"
    return "open work in the body" if body and pattern(headed).search(body) else ""


def standing(lead: Lead, verdict: Verdict) -> str:
    """Why the lead is a rule or a fact to keep."""
    spoken = lead.spoken
    lowered = spoken.lower()
    if words(RULE_SHOUTED).search(spoken) or said(RULE_SAID, RULE_UNSPACED).search(lowered):
        return "a standing rule"
    if pattern(rf"{_CLAUSE}(?:{either(RULE_BEGUN)})\b(?!-)").search(lowered):
        return "a standing rule"
    if verdict.sign in ("box", "tick") and said(NOT_SAID, NOT_UNSPACED, before=r"[(（]\s*").search(lowered):
        return "a correction"
    if not lead.heading and pattern(rf"[*_]*(?:{either(STATE_FIELD)})[*_]*\s*[:：]").match(lead.text.lower()):
        return "a field of what is above"
    return ""


def partial(lead: Lead, verdict: Verdict) -> str:
    """Why the marker is true of a part only: a ratio below one, one field of several, a replaced value."""
    ratio = _RATIO.match(lead.view, verdict.after)
    if ratio and int(ratio[1]) < int(ratio[2]):
        return "a part of the whole"
    if verdict.sign == "word" and _FIELD.search(lead.view):
        begin = max((field.end() for field in _FIELD.finditer(lead.view, 0, verdict.before)), default=0)
        if any(character.isalnum() for character in lead.view[begin : verdict.before]):
            return "one of several fields"
    if verdict.sign == "strike":
        struck, rest = lead.text[: lead.struck], lead.text[lead.struck :].lstrip()
        if rest[:1].isalnum() and len(struck.split()) <= 2:
            return "a replaced value"
    return ""


def working(lead: Lead, path: tuple[str, ...]) -> str:
    """Why a ✅ says "works", "is allowed" or "do it so", and not "is over"."""
    sentence = _SENTENCE.split(_ASIDE.sub("", lead.spoken), maxsplit=1)[0]
    if words(STATE_SHOUTED).search(sentence) or said(STATE_SAID, STATE_UNSPACED).search(sentence.lower()):
        return "a state that goes on"
    if lead.text.count("✅") > 1 or _FIELD.search(lead.view):
        return "the state of several parts"
    if "⚠" in lead.text:
        return "a caution"
    if any(said(RULEBOOK, RULEBOOK_UNSPACED).search(title.lower()) for title in path):
        return "under a heading of rules"
    if lead.tick:
        rest = lead.text[lead.tick :]
        named = _NAMED.match(rest) if rest.startswith("*") else None
        explains = _LEGEND.match(rest) or said(EXPLAINS, EXPLAINS_UNSPACED, before=r"[*_]{0,3}").match(rest.lower())
        return "a legend" if explains else "a named value" if named else ""
    named = _NAMED.match(lead.text)
    return "a named value" if named and not any(character.isdigit() for character in named[1]) else ""
