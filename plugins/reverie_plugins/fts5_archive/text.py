"""Text as the index has it: what FTS5 is given of it, and how it is folded for comparison."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from .identifier import extras

VERSION: Final = 1
"""Raised with every change of what FTS5 is given: indexes are made anew."""
_LATIN: Final = re.compile("[\u00c0-\u024f\u0300-\u036f\u1e00-\u1eff]+")
_SIGN: Final = re.compile("[^\x00-\x7f\\w]+")
_TURKISH: Final = {0x130: "i", 0x131: "i"}
_CATEGORIES: Final = "categories 'L* N* Co Mn Mc'"
"""Marks stand inside words: without them Thai, Khmer and Burmese come apart."""


def tokenizer(setting: str) -> str:
    """What stands in FTS5's ``tokenize=`` for a value of the setting ``tokenizer``.

    Every index finds stems, identifiers and all scripts. ``trigram`` finds any three letters inside a word as well:
    its words are kept whole, and looked for by their parts.

    >>> tokenizer("trigram")
    "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
    """
    words = f"unicode61 remove_diacritics 2 {_CATEGORIES}"
    return words if setting == "trigram" else f"porter {words}"


def indexed(text: str) -> str:
    """What FTS5 is given of a text: folded, with the forms of its identifiers and the grams of its runs.

    >>> indexed("Straße 12, 漢字, leaseGuard")
    'strasse 12,  漢字 字 , leaseguard lease guard'
    """
    if text.isascii():
        more = extras(text)
        return f"{text} {' '.join(more)}" if more else text
    from .script import RUN, spelled

    plain = unicodedata.normalize("NFC", text)
    more = extras(plain)
    folded = fold(f"{plain} {' '.join(more)}" if more else plain)
    folded = _SIGN.sub(lambda found: "".join(letter if inside(letter) else " " for letter in found[0]), folded)
    return RUN.sub(lambda found: spelled(found[0]), folded)


def fold(text: str) -> str:
    """Text in which no case, composition or Latin diacritic tells two spellings apart; lines stay lines.

    >>> fold("ISTANBUL İstanbul ıstanbul Café ẞ")
    'istanbul istanbul istanbul cafe ss'
    """
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFC", text).translate(_TURKISH).casefold()
    return _LATIN.sub(lambda found: "".join(map(bare, found[0])), folded)


def bare(letter: str) -> str:
    """A Latin letter without its diacritics, nothing of one that stands alone."""
    first = unicodedata.normalize("NFD", letter)[0]
    return first if first.isascii() else "" if "\u0300" <= letter <= "\u036f" else letter


def words(folded: str) -> list[str]:
    """The words of a folded text, as FTS5 splits it."""
    if folded.isascii():
        return "".join(letter if letter.isalnum() else " " for letter in folded).split()
    return "".join(letter if inside(letter) else " " for letter in folded).split()


def inside(letter: str) -> bool:
    """Whether a character is part of a word."""
    category = unicodedata.category(letter)
    return category[0] in "LN" or category in ("Mn", "Mc", "Co")


def tokens(text: str) -> int:
    """About how many tokens a model reads: four characters are one, of scripts without spaces each is one.

    >>> tokens("four words of text"), tokens("漢字")
    (5, 2)
    """
    if text.isascii():
        return (len(text) + 3) // 4
    from .script import WIDE

    wide = len(WIDE.findall(text))
    return wide + (len(text) - wide + 3) // 4
