"""The writer of episodic notes: one dated line at the end of a topic's file."""

from __future__ import annotations

import re
from typing import Final

from reverie.markdown import is_slug
from reverie_hookspecs import Committed, Edit, Files, Refused, Run

from .reading import readable

DATED: Final = re.compile(r"[-*] (?:\[\d{4}-\d{2}-\d{2}\] )?")


def note(files: Files, folder: str, topic: str, text: str, run: Run) -> Committed:
    """Add ``- [date] text`` to the topic's note in ``folder``; ``unchanged`` if a line says so already, on any date.

    Raises Refused for a topic that is no slug, for a link on the way, and for a text without content.
    """
    if not is_slug(topic):
        raise Refused(f"{topic!r} is no topic: use lower-case words joined by single dashes, 64 characters at most")
    single = " ".join(text.split())
    if not single:
        raise Refused("a note needs a text")
    path = f"{folder}/{topic}.md"
    before = files.read(path)
    if stands(readable(before).text, single):
        return Committed("unchanged", before)
    line, heading = f"- [{run.day}] {single}{before.newline}", f"# {topic.replace('-', ' ').capitalize()}"
    files.append(path, line, run, heading=heading)
    return Committed("written", before, Edit(before.text + line))


def stands(text: str, single: str) -> bool:
    """Whether a bullet says this already, dates and white space aside."""
    bullets = (line for line in text.splitlines() if DATED.match(line))
    return any(" ".join(DATED.sub("", line, count=1).split()) == single for line in bullets)
