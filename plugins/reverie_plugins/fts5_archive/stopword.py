"""English words that say nothing of what is looked for."""

from __future__ import annotations

from typing import Final

_WORDS: Final = """
a about above after again against ain all also am an and any anyone anything are aren as at be because been before
being below between both but by can cannot could couldn d did didn do does doesn doing don done down during each
either else ever every few for from further get gets getting give go going gone got had hadn has hasn have haven
having he her here hers herself hi him himself his how however i if in into is isn it its itself just kind know let
like ll m ma many may maybe me might more most much must my myself neither no nor not now o of off on once one ones
only or other our ours ourselves out over own per please quite rather re really s same shall shan she should shouldn
so some someone something sort such t tell than that the their theirs them themselves then there these they thing
things this those through to too under until up upon us use used using ve very via was wasn we were weren what
whatever when where whether which while who whom whose why will with won would wouldn y yes yet you your yours
yourself yourselves
"""
STOPWORDS: Final = frozenset(_WORDS.split())
