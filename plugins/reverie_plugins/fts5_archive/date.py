"""Written-out dates, as the phrases that ISO dates are in the index."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY: Final = r"\b(?P<day>0?[1-9]|[12][0-9]|3[01])(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>[12][0-9]{3})\b"
_WRITTEN: Final = (
    re.compile(rf"{_DAY}\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}"),
    re.compile(rf"\b{_MONTH}\s+(?:the\s+)?{_DAY},?\s+{_YEAR}"),
    re.compile(rf"\b{_YEAR},?\s+{_MONTH}\s+{_DAY}\b"),
    re.compile(rf"{_DAY}\s+(?:of\s+)?{_MONTH}"),
    re.compile(rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}\b"),
    re.compile(rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}"),
)


def is_month(word: str) -> bool:
    """Whether a folded word names a month."""
    return word[:3] in _MONTHS and re.fullmatch(_MONTH, word) is not None


def phrases(folded: str) -> list[str]:
    """The dates of a folded text as words with spaces: year, month and day, as far as they are named.

    >>> phrases("between 5 march 2026 and july 2nd, or in may 2025")
    ['2026 03 05', '07 02', '2025 05']
    """
    found: list[tuple[int, str]] = []
    taken: list[tuple[int, int]] = []
    for pattern in _WRITTEN:
        for match in pattern.finditer(folded):
            start, end = match.span()
            if all(end <= first or start >= last for first, last in taken):
                taken.append((start, end))
                found.append((start, " ".join(numbers(match.groupdict()))))
    return [phrase for _, phrase in sorted(found)]


def numbers(parts: dict[str, str]) -> Iterator[str]:
    if "year" in parts:
        yield parts["year"]
    yield f"{_MONTHS.index(parts['month'][:3]) + 1:02d}"
    if "day" in parts:
        yield f"{int(parts['day']):02d}"
