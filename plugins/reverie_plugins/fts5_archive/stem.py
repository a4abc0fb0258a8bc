"""Stems as the porter tokenizer of FTS5 makes them, byte for byte: what the index holds of a word."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

LONGEST: Final = 64
"""Bytes of a word from which on it has no stem but itself."""
_SHAPE: Final = {ord(letter): "v" if letter in "aeiou" else "c" for letter in map(chr, range(256))}
_SECOND: Final = {
    "a": (("ational", "ate"), ("tional", "tion")),
    "c": (("enci", "ence"), ("anci", "ance")),
    "e": (("izer", "ize"),),
    "g": (("logi", "log"),),
    "l": (("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous")),
    "o": (("ization", "ize"), ("ation", "ate"), ("ator", "ate")),
    "s": (("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous")),
    "t": (("aliti", "al"), ("iviti", "ive"), ("biliti", "ble")),
}
_THIRD: Final = {
    "a": (("ical", "ic"),),
    "s": (("ness", ""),),
    "t": (("icate", "ic"), ("iciti", "ic")),
    "u": (("ful", ""),),
    "v": (("ative", ""),),
    "z": (("alize", "al"),),
}
_FOURTH: Final = {
    "a": ("al",),
    "c": ("ance", "ence"),
    "e": ("er",),
    "i": ("ic",),
    "l": ("able", "ible"),
    "n": ("ant", "ement", "ment", "ent"),
    "o": ("ion", "ou"),
    "s": ("ism",),
    "t": ("ate", "iti"),
    "u": ("ous",),
    "v": ("ive",),
    "z": ("ize",),
}


@lru_cache(1 << 16)
def stem(word: str) -> str:
    """The stem of a word in small letters.

    >>> [stem(word) for word in ("fires", "firing", "happily", "relational", "kiln", "go")]
    ['fire', 'fire', 'happili', 'relat', 'kiln', 'go']
    """
    if word.isascii():
        return stemmed(word) if 3 <= len(word) <= LONGEST else word
    raw = word.encode("utf-8", "replace").decode("latin-1")
    return stemmed(raw).encode("latin-1").decode("utf-8", "replace") if len(raw) <= LONGEST else word


def root(key: str) -> str:
    """What every word begins with whose stem this is.

    >>> root("happi"), root("go")
    ('happ', 'go')
    """
    return key[:-1] if len(key) > 2 or key[-1:] == "i" else key


def stemmed(word: str) -> str:
    word = fourth(third(second(ended(inflected(plural(word))))))
    if word[-1] == "e":
        size = measure(word[:-1])
        if size > 1 or (size == 1 and not closed(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and measure(word[:-1]) > 1 else word


def shape(word: str) -> str:
    """Each letter as ``v`` or ``c``; a y after a consonant is a vowel."""
    plain = word.translate(_SHAPE)
    if "y" not in word:
        return plain
    before, found = "v", ""
    for letter, kind in zip(word, plain, strict=True):
        before = "v" if letter == "y" and before == "c" else kind
        found += before
    return found


def measure(word: str) -> int:
    return shape(word).count("vc")


def vowel(word: str) -> bool:
    return "v" in word.translate(_SHAPE) or "y" in word[1:]


def closed(word: str) -> bool:
    """Whether it ends in consonant, vowel, consonant, the last none of w, x and y."""
    return word[-1:] not in ("w", "x", "y") and f"c{shape(word)}"[-3:] == "cvc" and len(word) > 2


def plural(word: str) -> str:
    if word[-1] != "s":
        return word
    if word[-2] == "e":
        short = (len(word) > 4 and word[-4:-2] == "ss") or (len(word) > 3 and word[-3] == "i")
        return word[:-2] if short else word[:-1]
    return word if word[-2] == "s" else word[:-1]


def inflected(word: str) -> str:
    """Without ``ed`` and ``ing``, and with what they had taken."""
    if word.endswith("eed") and len(word) > 3:
        return word[:-1] if measure(word[:-3]) else word
    size = 2 if word.endswith("ed") else 3 if word.endswith("ing") else 0
    if not size or not vowel(word[:-size]):
        return word
    word = word[:-size]
    if len(word) > 2 and word.endswith(("at", "bl", "iz")):
        return word + "e"
    if len(word) > 1 and word[-1] == word[-2] and word[-1] not in "aeioulsz":
        return word[:-1]
    return word + "e" if measure(word) == 1 and closed(word) else word


def ended(word: str) -> str:
    return f"{word[:-1]}i" if word[-1] == "y" and vowel(word[:-1]) else word


def second(word: str) -> str:
    return replaced(word, _SECOND.get(word[-2:-1], ()))


def third(word: str) -> str:
    return replaced(word, _THIRD.get(word[-2:-1], ()))


def replaced(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    for ending, other in endings:
        if word.endswith(ending) and len(word) > len(ending):
            rest = word[: -len(ending)]
            return rest + other if measure(rest) else word
    return word


def fourth(word: str) -> str:
    for ending in _FOURTH.get(word[-2:-1], ()):
        if word.endswith(ending) and len(word) > len(ending):
            rest = word[: -len(ending)]
            fits = measure(rest) > 1 and (ending != "ion" or rest[-1] in "st")
            return rest if fits else word
    return word
