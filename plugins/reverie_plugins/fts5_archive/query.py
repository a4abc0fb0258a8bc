"""The query: what a person or an agent typed, as terms; and the terms as one bounded question to FTS5."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final, Literal, NamedTuple

from .date import is_month, phrases as dates
from .identifier import extras
from .lexicon import Lexicon
from .script import RUN, asked, grams
from .stopword import STOPWORDS
from .text import fold, words

Kind = Literal["word", "part", "gram", "phrase", "date"]
MOST: Final = 200
"""Terms of a query that are looked at."""
LENGTH: Final = 20_000
"""Characters of a query that are looked at."""
SHARE: Final = 0.025
"""Chunks, of all, that are scored for words alone."""
PAIRED: Final = 0.05
"""Chunks, of all, that are expected to be scored for pairs of common words."""
FEW: Final = 2_000
"""Chunks that may be scored in any case."""
DAYS: Final = 12
"""Chunks with the rarest number of a date, for one with that date: a guess."""
PARTNERS: Final = 6
"""Common words that are paired."""
EXACT: Final = 8
"""Characters of a run up to which it is looked for as a whole, too."""


class Asked(NamedTuple):
    """One term as it was typed; a phrase has its words with spaces between them."""

    text: str
    kind: Kind = "word"


class Term(NamedTuple):
    """One term and what the index knows of it.

    ``keys`` are what a line holds that has it, ``clauses`` what FTS5 looks for, ``chunks`` how many hold it, of a
    phrase at most; ``near`` says that others took its place.
    """

    text: str
    kind: Kind
    keys: tuple[str, ...]
    clauses: tuple[str, ...]
    chunks: int
    near: bool = False


class Plan(NamedTuple):
    """What FTS5 is asked; where it is not ranked, the newest chunks are taken and only their lines decide."""

    match: str
    ranked: bool = True


def read(query: str) -> list[Asked]:
    """The terms of a query in order, each once; stop words only if there is nothing else.

    >>> [asked.text for asked in read("When did the kiln fire on 5 March 2026? lease_guard")]
    ['kiln', 'fire', 'march', '2026', 'lease', 'guard', 'leaseguard', '2026 03 05', 'lease guard']
    """
    plain = query[:LENGTH].encode("utf-8", "replace").decode("utf-8")
    more = extras(plain)
    folded = fold(plain)
    found = list(terms(f"{folded} {fold(' '.join(more))}" if more else folded))
    content = [asked for asked in found if asked.text not in STOPWORDS] or found
    if named := dates(folded):
        content = dated(content, named)
    content += [Asked(phrase, "phrase") for phrase in compounds(folded)]
    return list(dict.fromkeys(content))[:MOST]


def dated(content: Sequence[Asked], named: Sequence[str]) -> list[Asked]:
    """The terms with the dates in them; the number of a day says nothing without its month."""
    days = {phrase[-2:] for phrase in named} | {phrase[-2:].lstrip("0") for phrase in named}
    return [asked for asked in content if asked.text not in days] + [Asked(phrase, "date") for phrase in named]


def terms(folded: str) -> Iterator[Asked]:
    """The words, and the grams of runs without spaces; a short run as a whole, too."""
    for word in words(folded):
        if word.isascii():
            yield Asked(word)
            continue
        last = 0
        for run in RUN.finditer(word):
            yield from filter(lambda asked: asked.text, [Asked(word[last : run.start()])])
            yield from runs(run[0])
            last = run.end()
        if rest := word[last:]:
            yield Asked(rest)


def runs(run: str) -> Iterator[Asked]:
    for gram in asked(run):
        yield Asked(gram, "gram" if len(gram) > 1 else "part")
    size = len(asked(run)[0])
    if size < len(run) <= EXACT:
        yield Asked(" ".join(grams(run, size)), "phrase")


def compounds(folded: str) -> Iterator[str]:
    """The words of each identifier, path or number with signs in it, as a phrase."""
    for token in folded.split():
        if token.isascii() and "'" not in token:
            parts = words(token)
            if 1 < len(parts) <= PARTNERS and not STOPWORDS.issuperset(parts):
                yield " ".join(parts)


def known(asked: Sequence[Asked], lexicon: Lexicon) -> list[Term]:
    """The terms with what the index knows of them."""
    lexicon.learn(lexicon.key(word) for term in asked for word in term.text.split())
    typed = [one.text for one in asked if one.kind == "word"]
    held = [text for text in typed if lexicon.count(lexicon.key(text))]
    return [term_of(one, lexicon, edits(one, typed, held)) for one in asked]


def edits(asked: Asked, typed: Sequence[str], held: Sequence[str]) -> int:
    """How many typing errors a term may have: none if it is made of words that are right, as an identifier is of its
    parts, and one if it is made of any."""
    if asked.kind != "word" or is_month(asked.text) or composed(asked.text, held):
        return 0
    return 1 if composed(asked.text, typed) else 2


def composed(text: str, parts: Sequence[str]) -> bool:
    """Whether a word is made of others, in their order.

    >>> composed("leaseguard", ["the", "lease", "guard"]), composed("guard", ["guard"])
    (True, False)
    """
    rest = text
    for part in parts:
        rest = rest.removeprefix(part) if part != text else rest
    return not rest


def term_of(asked: Asked, lexicon: Lexicon, edits: int = 0) -> Term:
    """One term; words so many edits away take the place of one that the index does not hold."""
    text, kind = asked
    if kind == "part":
        return Term(text, kind, (text,), (f"{quoted(text)} *",), lexicon.begun(text))
    if kind in ("phrase", "date"):
        count = min(lexicon.count(lexicon.key(word)) for word in text.split())
        share = DAYS if kind == "date" else 1
        return Term(text, kind, (text,), (quoted(text),), -(-count // share))
    keys = held(text, kind, lexicon)
    found = keys or lexicon.near(text, edits)
    spoken = map(lexicon.word, found) if not keys or lexicon.whole else [text]
    return Term(text, kind, tuple(found), tuple(map(quoted, spoken)), sum(map(lexicon.count, found)), not keys)


def held(text: str, kind: Kind, lexicon: Lexicon) -> list[str]:
    """What the index holds of a word or a gram."""
    if kind == "word" and lexicon.whole and len(text) > 2:
        return lexicon.parts(text)
    key = lexicon.key(text)
    return [key] if lexicon.count(key) else []


def plan(terms: Sequence[Term], size: int) -> Plan:
    """The question: the rarest terms while the chunks that hold them are few enough, and of the others the pairs that
    few chunks can hold. Only where nothing is rare, and no pair, all of them together are asked for, unranked."""
    left = max(FEW, SHARE * size)
    chosen: list[str] = []
    rest: list[Term] = []
    for term in sorted((term for term in terms if term.chunks), key=cost):
        if left >= cost(term) or (not chosen and cost(term) <= PAIRED * size):
            chosen += term.clauses
            left -= cost(term)
        else:
            rest.append(term)
    paired = [term for term in rest if term.kind not in ("phrase", "date")]
    chosen += pairs(paired, size)
    if chosen or not rest:
        return Plan(" OR ".join(dict.fromkeys(chosen)))
    return Plan(" AND ".join(either(term) for term in paired[:PARTNERS] or rest[:1]), ranked=False)


def cost(term: Term) -> float:
    """Chunks that are scored for a term."""
    return term.chunks / 4 if term.kind == "phrase" else term.chunks


def pairs(terms: Sequence[Term], size: int) -> list[str]:
    """Pairs of common words, the rarest first; all of them together where no two are rare enough."""
    left = PAIRED * size
    found: list[str] = []
    chosen = terms[:PARTNERS]
    for one, other in sorted(combinations(chosen, 2), key=lambda pair: pair[0].chunks * pair[1].chunks):
        left -= one.chunks * other.chunks / size
        if left < 0:
            break
        found.append(f"({either(one)} AND {either(other)})")
    if found or len(chosen) < 3:
        return found
    expected = float(size)
    for term in chosen:
        expected *= term.chunks / size
    return [f"({' AND '.join(map(either, chosen))})"] if expected <= PAIRED * size else []


def either(term: Term) -> str:
    return term.clauses[0] if len(term.clauses) == 1 else f"({' OR '.join(term.clauses)})"


def quoted(text: str) -> str:
    """Words as FTS5 takes them, whatever they are: never as its syntax."""
    escaped = text.replace('"', '""')
    return f'"{escaped}"'
