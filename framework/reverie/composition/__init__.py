"""Composition: sections become the text of one CLAUDE.md, under its limits and as a security boundary."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from attrs import frozen

from reverie.hygiene import DASHES, Clean, cleanse, delimiter, single_line, visible
from reverie_hookspecs import PluginError

from .output import Written as Written, write as write

if TYPE_CHECKING:
    from reverie_hookspecs import Section

BODY_LIMIT: Final = 20_000
"""Characters of one body; a marker line follows where it was cut."""
TEXT_LIMIT: Final = 150_000
"""Characters of the whole text; a marker line follows where it was cut."""
SCANNED: Final = 20 * BODY_LIMIT
"""Characters of a body that are looked at: what hides more than this before its text shows less of it."""
TITLE_LIMIT: Final = 80
NAMED: Final = 12
"""Sections that a marker names."""
OPERATED: Final = {"agents": "AGENTS.md", "identity": "IDENTITY.md", "soul": "SOUL.md", "heartbeat": "HEARTBEAT.md"}
"""Sections whose imports are meant: the files that the operator writes."""
MARKUP: Final = re.compile(r"[`@&<>*_~|\\\[\]]")
RULE: Final = re.compile(f"[{DASHES}]{{2,}}")
WIDE: Final = "[\u0e00-\u0eff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
"""Characters that a tokenizer rarely joins: Thai, Lao, Chinese, Japanese, Korean."""


@frozen
class Part:
    """One section of the composed text: ``chars`` and ``tokens`` as shown, ``length`` of the source.

    ``cut`` characters are not shown; ``hidden`` ones were taken out, ``delimiters`` escaped, ``imports`` made code,
    ``closed`` fences or comments given an end. ``notes`` say all that in words, after what wrappers said.
    """

    name: str
    title: str
    file: str = ""
    chars: int = 0
    tokens: int = 0
    length: int = 0
    cut: int = 0
    hidden: int = 0
    delimiters: int = 0
    imports: int = 0
    closed: int = 0
    notes: tuple[str, ...] = ()


@frozen
class Composed:
    """The whole text, and what became of each section."""

    text: str
    parts: tuple[Part, ...]


def compose(sections: Sequence[Section]) -> Composed:
    """The text of these sections, in this order, and what became of each; PluginError for one that is no text."""
    text = ""
    parts: list[Part] = []
    full = False
    for section in map(checked, sections):
        head = ("\n\n" if text else "") + delimiter(title_of(section))
        room = TEXT_LIMIT - len(text) - len(head) - 1
        full = full or room < 0
        body, part = ("", left_out(section)) if full else shown(section, min(BODY_LIMIT, room))
        text += "" if full else head + ("\n" + body if body else "")
        full = full or (part.cut > 0 and room < BODY_LIMIT)
        parts.append(part)
    ending = "\n\n" + end_of_text(parts) if full else ""
    return Composed(text + ending + "\n", tuple(parts))


def checked(section: Section) -> Section:
    """The section, if what it shows is text."""
    for field in ("name", "title", "file", "body"):
        value = getattr(section, field)
        if not isinstance(value, str):
            raise PluginError(
                f"the {field} of section {section.name!r} is {type(value).__name__} and no text; mend the plugin that "
                "offers it, or switch it off in config.json"
            )
    return section


def shown(section: Section, limit: int) -> tuple[str, Part]:
    """The body of a section as it stands in the text, and what became of it."""
    seen, hidden = visible(section.body[:SCANNED])
    clean, cut = fitted(seen.rstrip(), limit, OPERATED.get(section.name) == section.file)
    clean = clean._replace(hidden=clean.hidden + hidden)
    cut += len(section.body[SCANNED:].rstrip())
    part = report(section, clean, cut)
    ending = f"\n\n{end_of_body(cut, part.file)}" if cut and limit == BODY_LIMIT else ""
    return clean.text + ending, part


def fitted(text: str, limit: int, imports: bool) -> tuple[Clean, int]:
    """As much of the beginning as, made harmless, has room; and how many characters have none."""
    keep = min(len(text), limit)
    clean = cleanse(text[:keep], imports)
    while len(clean.text) > limit:
        keep = min(keep - 1, keep * limit // len(clean.text))
        clean = cleanse(text[:keep], imports)
    return clean, len(text) - keep


def report(section: Section, clean: Clean, cut: int) -> Part:
    """What became of a section, in figures and in words."""
    return Part(
        single_line(section.name),
        title_of(section),
        single_line(section.file),
        len(clean.text),
        tokens(clean.text),
        section.length,
        cut,
        *clean[1:],
        (*map(single_line, section.notes), *remarks(clean, cut)),
    )


def remarks(clean: Clean, cut: int) -> list[str]:
    """The same in words, for whoever composes."""
    said = {
        "characters over the limit, not shown": cut,
        "hidden characters left out": clean.hidden,
        "lines that read as the beginning of a section, escaped": clean.delimiters,
        "imports (@path) made code": clean.imports,
        "fences or comments left open, closed": clean.closed,
    }
    return [f"{what}: {count:,}" for what, count in said.items() if count]


def left_out(section: Section) -> Part:
    """A section the text has no room for."""
    return report(section, Clean(""), len(section.body.strip()))


def title_of(section: Section) -> str:
    """The title as it may stand in a delimiter: one line without markup, and no delimiter itself."""
    words = RULE.sub("-", MARKUP.sub(" ", single_line(section.heading))).split()
    return " ".join(words)[:TITLE_LIMIT].strip(DASHES + " ") or "SECTION"


def tokens(text: str) -> int:
    """An estimate of the tokens a model reads: four characters make one, and each wide one does."""
    wide = 0 if text.isascii() else len(re.findall(WIDE, text))
    return wide - (wide - len(text)) // 4


def end_of_body(cut: int, file: str) -> str:
    """The marker where the body of a section was cut."""
    rest = f" of {file} are not shown; open the file to read them" if file else " are not shown"
    return f"[Cut here at {BODY_LIMIT:,} characters: {cut:,} more{rest}.]"


def end_of_text(parts: Sequence[Part]) -> str:
    """The marker where the whole text was cut."""
    missing = [f"{part.title} ({part.cut:,})" for part in parts if part.cut]
    rest = ", ".join(missing[:NAMED]) + (f" and {len(missing) - NAMED} more" if len(missing) > NAMED else "")
    return f"[The whole text ends here at {TEXT_LIMIT:,} characters. Not shown: {rest or 'empty sections'}.]"
