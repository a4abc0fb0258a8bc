"""Scripts whose words have no spaces between them: their runs, and the grams that stand for words."""

from __future__ import annotations

import re
from typing import Final

EAST: Final = (
    "\u1100-\u11ff\u3005-\u3007\u3021-\u3029\u3041-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"
    "\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
    "\uf900-\ufaff\uff66-\uffdc\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""Han, kana, hangul, bopomofo."""
SOUTH: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0ece\u0ed0-\u0edf\u1000-\u1049\u1050-\u109d"
    "\u1780-\u17d3\u17d7\u17dc-\u17e9\ua9e0-\ua9fe\uaa60-\uaa76\uaa7a-\uaa7f"
)
"""Thai, Lao, Burmese, Khmer, with their marks and digits."""
WIDE: Final = re.compile(f"[{EAST}{SOUTH}]")
RUN: Final = re.compile(f"[{EAST}]+|[{SOUTH}]+")
"""A stretch of one of the two."""
_SOUTHERN: Final = re.compile(f"[{SOUTH}]")


def spelled(run: str) -> str:
    """What the index holds of a run: every two characters in sequence, and its last one; of the southern scripts,
    whose syllables are longer, every three as well.

    >>> spelled("漢字典")
    ' 漢字 字典 典 '
    """
    pairs = [*grams(run, 2), run[-1]] if len(run) > 1 else [run]
    triples = grams(run, 3) if len(run) > 2 and _SOUTHERN.match(run) else []
    return f" {' '.join(triples + pairs)} "


def asked(run: str) -> list[str]:
    """The grams by which a run of a query is found; a single character is one."""
    return grams(run, min(len(run), 3 if _SOUTHERN.match(run) else 2))


def grams(run: str, size: int) -> list[str]:
    return [run[at : at + size] for at in range(len(run) - size + 1)]
