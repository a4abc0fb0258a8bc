"""Whether an entry is finished: read off its lead line alone, and in doubt it is not.

Two steps. A marker is looked for where one counts; then reasons are looked for why the entry lives on all the same:
work that is named as open, a rule that only works while it is read, a ✅ that means "works" or "may be done".
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final, Literal, NamedTuple

from reverie.markdown.line import unified

from .lead import BLOT, Lead, read_lead, spoken, view
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
    RECURRING,
    RECURRING_BEGUN,
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

_STRIKE: Final = re.compile(r"[*_]{0,3}~~(?=\S)(.+?)~~[*_]{0,3}")
_TICK: Final = re.compile(r"[*_]{0,3}✅\ufe0f?[ \t]*")
_LAST_TICK: Final = re.compile(r"✅\ufe0f?[*_.!\s]*$")
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
    reason = alive(lead, verdict, body, path)
    if not reason and crossed and verdict.sign == "tick":
        reason = "beside crosses"
    return Verdict(reason=reason) if reason else verdict


def marked(lead: Lead) -> Verdict:
    """The marker a lead bears, where it counts as one."""
    if lead.box is None and lead.text.startswith(("```", "~~~")):
        return Verdict(reason="a code fence")
    if lead.box is not None and not lead.ticked:
        return Verdict(reason="an open box")
    text, word = lead.text, status_word(lead)
    if word.status:
        return word
    if lead.ticked:
        return Verdict("DONE", sign="box")
    if struck := _STRIKE.match(text):
        return Verdict("DONE", sign="strike", after=struck.end())
    if tick := _TICK.match(text):
        return Verdict("DONE", sign="tick", after=tick.end())
    if tick := _LAST_TICK.search(text):
        return Verdict("DONE", sign="tick", before=tick.start(), after=len(text))
    return word


def alive(lead: Lead, verdict: Verdict, body: str, path: tuple[str, ...]) -> str:
    """Why an entry that bears a marker lives on all the same, or ``""``."""
    heard = spoken(lead.text)
    reason = unfinished(lead, heard, body) or standing(lead, heard, verdict) or partial(lead, verdict)
    return reason or (working(lead, heard, verdict, path) if verdict.sign == "tick" else "")


def status_word(lead: Lead) -> Verdict:
    """The first status word that is said of the whole entry."""
    reason = "no marker"
    seen = view(lead.text) if STATUS.search(lead.text) else ""
    for word in islice(STATUS.finditer(seen), MOST_WORDS):
        reason = spoken_of(seen, word) or elsewhere(seen, word) or unclear(seen, word)
        if not reason:
            return Verdict(word[0], sign="word", before=word.start(), after=word.end())
    return Verdict(reason=reason)


def spoken_of(seen: str, word: re.Match[str]) -> str:
    """Why the word is spoken of and not said: denied, asked about, defined, one of a list of values."""
    before = seen[max(0, word.start() - 60) : word.start()].lower()
    if before[-1:] in _SIGILS or said(BEFORE, BEFORE_UNSPACED, after=_ONE_WORD).search(before):
        return "the word is denied"
    if _ASKED.match(seen, word.end()) or pattern(rf"\s+(?:{either(AFTER)})\b").match(seen.lower(), word.end()):
        return "the word has a condition"
    if any(values.start() <= word.start() < values.end() for values in _VALUES.finditer(seen)):
        return "a list of values"
    return ""


def elsewhere(seen: str, word: re.Match[str]) -> str:
    """Why the word speaks of a part: in a parenthesis, in a later sentence, far into a long lead."""
    before, after = seen[: word.start()], seen[word.end() :]
    opening = max(before.rfind("("), before.rfind("（"))
    if opening > max(before.rfind(")"), before.rfind("）")):
        bare = not any(character.isalnum() for character in before[opening:])
        return "" if bare and _ALONE.match(seen, word.end()) else "in a parenthesis"
    if not any(character.isalnum() for character in after):
        return ""
    sentences = [sentence.end() for sentence in _SENTENCE.finditer(before)]
    if sentences and not _LATER.fullmatch(before, sentences[-1]):
        return "in a later sentence"
    return "far into the lead" if len(before.replace(BLOT, "")) > FAR else ""


def unclear(seen: str, word: re.Match[str]) -> str:
    """Why the capitals of the word say nothing: all is in capitals, or it is an adjective of what follows."""
    before, after = seen[: word.start()], seen[word.end() :]
    first = not any(character.isalnum() for character in before)
    if first and word[0] != "DONE" and _PLURAL.match(after):
        return "an adjective"
    others = STATUS.sub("", seen)
    apart = before.rstrip(" *_").endswith(("—", "–", ":", "-", "(", "：")) or not after.strip(" *_.")
    shouted = others.isupper() and sum(character.isupper() for character in others) > 4
    return "all in capitals" if shouted and not apart else ""


def unfinished(lead: Lead, heard: str, body: str) -> str:
    """Why work is still open: a box, a sign or a word of open work in the lead, a box or heading of it in the body."""
    if _OPEN_BOX.search(lead.text) or _OPEN_BOX.search(body):
        return "an open box"
    if any(sign in lead.text for sign in OPEN_SIGNS):
        return "a sign of open work"
    if words(OPEN_SHOUTED).search(heard) or said(OPEN_SAID, OPEN_UNSPACED).search(heard.lower()):
        return "open work in the lead"
    headed = rf"(?m:{_ITEM}(?:[{OPEN_SIGNS}]|(?:{either(OPEN_SHOUTED)})\b))"
    return "open work in the body" if body and pattern(headed).search(body) else ""


def standing(lead: Lead, heard: str, verdict: Verdict) -> str:
    """Why the lead is a rule or a fact to keep."""
    lowered = heard.lower()
    if words(RULE_SHOUTED).search(heard) or said(RULE_SAID, RULE_UNSPACED).search(lowered):
        return "a standing rule"
    begun = pattern(rf"{_CLAUSE}(?:{either(RULE_BEGUN)})\b(?!-)").search(lowered.lstrip("✅\ufe0f *_"))
    if begun and not _STRIKE.match(lead.text):  # what is said so of a struck thing is said of that thing alone
        return "a standing rule"
    if verdict.sign in ("box", "tick") and said(NOT_SAID, NOT_UNSPACED, before=r"[(（]\s*").search(lowered):
        return "a correction"
    if verdict.sign in ("box", "tick") and comes_again(lowered):
        return "it comes again"
    if not lead.heading and pattern(rf"[*_]*(?:{either(STATE_FIELD)})[*_]*\s*[:：]").match(lead.text.lower()):
        return "a field of what is above"
    return ""


def comes_again(lowered: str) -> bool:
    """Whether the lead speaks of something that is due again and again."""
    begun = pattern(rf"[✅\ufe0f *_]*(?:{either(RECURRING_BEGUN)})[*_]*\s*[:：]").match(lowered)
    return begun is not None or words(RECURRING).search(lowered) is not None


def partial(lead: Lead, verdict: Verdict) -> str:
    """Why the marker is true of a part only: a ratio below one, one field of several, a replaced value."""
    ratio = _RATIO.match(lead.text, verdict.after)
    if ratio and int(ratio[1]) < int(ratio[2]):
        return "a part of the whole"
    if verdict.sign == "word" and "|" in lead.text:
        fields = [field.end() for field in _FIELD.finditer(view(lead.text))]
        begin = max((field for field in fields if field <= verdict.before), default=0)
        if fields and any(character.isalnum() for character in lead.text[begin : verdict.before]):
            return "one of several fields"
    if verdict.sign == "strike":
        struck, rest = lead.text[: verdict.after], lead.text[verdict.after :].lstrip()
        if rest[:1].isalnum() and len(struck.split()) <= 2:
            return "a replaced value"
    return ""


def working(lead: Lead, heard: str, verdict: Verdict, path: tuple[str, ...]) -> str:
    """Why a ✅ says "works", "is allowed" or "do it so", and not "is over"."""
    sentence = _SENTENCE.split(_ASIDE.sub("", heard), maxsplit=1)[0]
    if words(STATE_SHOUTED).search(sentence) or said(STATE_SAID, STATE_UNSPACED).search(sentence.lower()):
        return "a state that goes on"
    if lead.text.count("✅") > 1 or _FIELD.search(heard):
        return "the state of several parts"
    if "⚠" in lead.text:
        return "a caution"
    if any(map(rules, path)):
        return "under a heading of rules"
    return named_value(lead.text, verdict)


def rules(title: str) -> bool:
    """Whether a ✅ under this title means "do it so"."""
    return said(RULEBOOK, RULEBOOK_UNSPACED).search(title.lower()) is not None


def named_value(text: str, verdict: Verdict) -> str:
    """Why a ✅ before a name or behind a value says that the value holds; a number before it names a task."""
    if verdict.before:
        named = _NAMED.match(text)
        return "a named value" if named and not any(character.isdigit() for character in named[1]) else ""
    rest = text[verdict.after :]
    if _LEGEND.match(rest) or said(EXPLAINS, EXPLAINS_UNSPACED, before=r"[*_]{0,3}").match(rest.lower()):
        return "a legend"
    return "a named value" if rest.startswith("*") and _NAMED.match(rest) else ""
