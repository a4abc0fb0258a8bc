"""The lexicon: which words the index holds, in how many chunks, and which of them are near to one that it does not."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from string import ascii_lowercase
from typing import Final

from .stem import root, stem

SHORT: Final = 4
LONG: Final = 8
LONGEST: Final = 40
FIRM: Final = 6
"""Letters from which on a word has neighbours, from which on two edits away, and up to which; and letters of a stem
from which on two edits of it count."""
NEIGHBOURS: Final = 5
"""Words that take the place of one."""
PATIENCE: Final = 8
"""Words of one query whose neighbours are looked for."""
FAR: Final = 2
"""How many of them, from the first on, may be two edits away."""
PARTS: Final = 200
"""Words that are found by one of their parts."""
SMALL: Final = 1_000
"""Chunks up to which all words are looked through."""
_ENDINGS: Final = (
    *("", "s", "e", "es", "ed", "d", "ing", "y", "er", "ers", "ly", "al", "ally", "ion", "ions", "ation", "ations"),
    *("ional", "ment", "ments", "ness", "able", "ible", "ity", "ive", "ous", "ence", "ance", "ization", "ational"),
    *(
        "ator",
        "ators",
        "ating",
        "ated",
        "eer",
        "eers",
        "eered",
        "ist",
        "ists",
        "ful",
        "fully",
        "ement",
        "ements",
        "ism",
    ),
    *("ability", "ibility", "abilities", "ibilities", "izing", "ized", "ically", "ial", "ially", "iveness", "fulness"),
)
"""What a stem may have lost."""
_INFLECTED: Final = ("e", "s", "y", "ing", "ed", "es", "l", "ies", "al", "ation", "eed", "ee")
"""What makes a word of a stem that is none."""


class Lexicon:
    """The words of one index, as of now. Every word here is folded, every key is as the index has it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.known: dict[str, int] = {}
        self.patience = PATIENCE

    @cached_property
    def size(self) -> int:
        """Chunks in all."""
        size: int = self.connection.execute("SELECT count(*) FROM kb_chunks").fetchone()[0]
        return size

    @cached_property
    def whole(self) -> bool:
        """Whether the index holds whole words, to be found by their parts, and not stems."""
        row = self.connection.execute("SELECT signature FROM kb_index_state").fetchone()
        return bool(row and row[0]) and json.loads(row[0]).get("tokenizer") == "trigram"

    def key(self, word: str) -> str:
        return word if self.whole else stem(word)

    def word(self, key: str) -> str:
        """A word of this key: FTS5 makes a stem of whatever it is asked for, and of a stem another one."""
        several = (key, *(key[:cut] + ending for cut in (len(key), -1) for ending in _INFLECTED))
        return next((word for word in several if self.key(word) == key), key)

    def learn(self, keys: Iterable[str]) -> None:
        """Look up in how many chunks each of them stands."""
        new = [key for key in dict.fromkeys(keys) if key not in self.known]
        if not new:
            return
        common = self.rows("SELECT term, count FROM kb_common WHERE term IN", new)
        self.known |= dict.fromkeys(new, 0) | common
        rare = [key for key in new if key not in common]
        self.known |= self.rows("SELECT term, doc FROM kb_words WHERE term IN", rare) if rare else {}

    def rows(self, statement: str, keys: Collection[str]) -> dict[str, int]:
        marks = ", ".join("?" * len(keys))
        return dict(self.connection.execute(f"{statement} ({marks})", tuple(keys)))

    def count(self, key: str) -> int:
        """Chunks that hold the key."""
        self.learn((key,))
        return self.known[key]

    def begun(self, letter: str) -> int:
        """Chunks, at most, with a word that begins so."""
        statement = "SELECT sum(doc) FROM kb_words WHERE term >= ? AND term < ?"
        row = self.connection.execute(statement, (letter, f"{letter}\U0010ffff")).fetchone()
        return row[0] or 0

    def parts(self, word: str) -> list[str]:
        """Words of the index with this one, or one of its stem, in them; what is most alike first."""
        bare, key = root(stem(word)), stem(word)
        statement = "SELECT term, doc FROM kb_words WHERE instr(term, ?)"
        found = [
            (term != word, stem(term) != key, -count, term)
            for term, count in self.connection.execute(statement, (bare,))
            if word in term or stem(term) == key
        ]
        self.known |= {term: -count for _, _, count, term in found}
        return [row[3] for row in sorted(found)[:PARTS]]

    # Neighbours

    def near(self, word: str, edits: int = 2) -> list[str]:
        """The keys of the words nearest to one that the index does not hold, the commonest first."""
        if not edits or not SHORT <= len(word) <= LONGEST or not (word.isascii() and word.isalpha() and self.patience):
            return []
        self.patience -= 1
        found = self.rows("SELECT term, doc FROM kb_words WHERE term IN", {self.key(other) for other in edited(word)})
        if not found and edits > 1 and len(word) >= LONG and self.patience > PATIENCE - FAR:
            found = self.farther(word)
        self.known |= found
        return sorted(found, key=lambda key: (-found[key], key))[:NEIGHBOURS]

    def farther(self, word: str) -> dict[str, int]:
        """Keys of words two edits away, with their counts."""
        short = stem(word)
        low, high = max(SHORT, len(word) - 9), len(word) + 2
        return {
            term: count
            for term, count in self.candidates(word)
            if low <= len(term) <= high and alike(word, short, term)
        }

    def candidates(self, word: str) -> Iterator[tuple[str, int]]:
        """Words that may be near: those that begin alike but for one edit; of a small index, all."""
        if self.size <= SMALL:
            yield from self.connection.execute("SELECT term, doc FROM kb_words")
            return
        statement = "SELECT term, doc FROM kb_words WHERE term >= ? AND term < ?"
        for begin in sorted({other[:3] for other in edited(word[:4])}):
            yield from self.connection.execute(statement, (begin, f"{begin}{{"))


def edited(word: str) -> set[str]:
    """Every word one edit away: a letter more, less or other, or two neighbours changed."""
    halves = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    found = {left + right[1:] for left, right in halves if right}
    found |= {left + right[1] + right[0] + right[2:] for left, right in halves if len(right) > 1}
    for letter in ascii_lowercase:
        found |= {f"{left}{letter}{right[1:]}" for left, right in halves if right}
        found |= {f"{left}{letter}{right}" for left, right in halves}
    return found


def alike(word: str, short: str, key: str) -> bool:
    """Whether a word with this key is two edits away at most; ``short`` is the stem of the one that is sought."""
    if len(set(key[:-1]).difference(word)) > 2 or not (shares(short, key) or shares(word, key)):
        return False
    if within(word, key, 2) or (len(short) >= FIRM and within(short, key, 2)):
        return True
    size, begin = len(key) - 1, key[:-1]
    if not any(within(word[:end], begin, 1) for end in (size, size - 1, size + 1)):
        return False
    return any(within(word, key + ending, 2) for ending in _ENDINGS)


def shares(word: str, key: str) -> bool:
    """Whether the key holds a third of the word at about its place: two edits leave one third alone.

    >>> shares("phtograpyh", "photograph"), shares("phtograpyh", "hotel")
    (True, False)
    """
    one, other = len(word) // 3, 2 * len(word) // 3
    return (
        word[:one] in key[: one + 2]
        or word[one:other] in key[max(0, one - 2) : other + 2]
        or word[other:] in key[max(0, other - 2) :]
    )


def within(one: str, other: str, edits: int) -> bool:
    """Whether so many edits make one of the other.

    >>> within("kiln", "klin", 1), within("kiln", "clean", 2)
    (True, False)
    """
    if abs(len(one) - len(other)) > edits:
        return False
    if one == other or not edits:
        return one == other
    at = 0
    for mine, its in zip(one, other, strict=False):
        if mine != its:
            break
        at += 1
    one, other = one[at:], other[at:]
    if edits == 1:
        return one[1:] == other[1:] or one[1:] == other or one == other[1:] or swapped(one) == other
    if one[:2] == other[1::-1] and len(one) > 1 and within(one[2:], other[2:], edits - 1):
        return True
    pairs = ((one[1:], other[1:]), (one[1:], other), (one, other[1:]))
    return any(within(mine, its, edits - 1) for mine, its in pairs)


def swapped(word: str) -> str:
    """The first two letters changed."""
    return word[1:2] + word[:1] + word[2:]
