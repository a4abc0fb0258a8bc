"""Names of topics: kebab case, at most 64 characters."""

from __future__ import annotations

import re
from typing import Final, TypeGuard

LONGEST: Final = 64
_SLUG: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)


def is_slug(value: object) -> TypeGuard[str]:
    """Whether it may name a topic, and so a file.

    >>> is_slug("kiln-2"), is_slug("a--b"), is_slug("../x"), is_slug(None)
    (True, False, False, False)
    """
    return isinstance(value, str) and len(value) <= LONGEST and _SLUG.fullmatch(value) is not None


def tidied(topic: str) -> str:
    """A topic without outer dashes and with runs of them merged, so that it has one spelling.

    >>> tidied("-kiln--schedule-")
    'kiln-schedule'
    """
    return re.sub(r"-+", "-", topic).strip("-")
