"""What to mend: every key of the file is looked at once, whether anybody asks for it or not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reverie_hookspecs.settings import Block, Level

from .document import Tree, joined
from .outline import TIMEZONE, Key, Outline, keys_of, section
from .remark import Remark, folded, nearest, shown, suggestion
from .value import Levels, build, changed, read, resolve


def review(outline: Outline, levels: Levels, level: Level, where: str, written: Tree) -> Iterator[Remark]:
    """The remarks on the tree of one level; ``where`` is ``gateway`` or ``agents[<id>]``.

    ``written`` is the same tree as it stands in the file: what came from the environment may be a secret.
    """
    todo: list[tuple[str, Tree, Tree]] = [("", getattr(levels, level), written)]
    while todo:
        path, tree, source = todo.pop(0)
        for name, raw in tree.items():
            inner = f"{path}.{name}" if path else name
            here = joined(where, name) if not path else joined(f"{where}.{path}", name)
            if keys := outline.keys.get(path, {}).get(name):
                yield from _of_key(keys, raw, levels, level, here, source[name])
            elif inner in outline.reach:
                yield from _of_section(raw, outline.reach[inner], level, here)
                if isinstance(raw, dict) and level in outline.reach[inner]:
                    todo.append((inner, raw, source[name]))
            else:
                yield from _of_stranger(name, outline, path, level, here)


def adjusted(blocks: tuple[type[Block], ...], levels: Levels, level: Level, where: str) -> Iterator[Remark]:
    """The remarks on values that fit alone and not together: a block may draw one to another when it is made."""
    for block in blocks:
        keys = keys_of(block)
        if not _checks(block, keys) or not _says(keys, getattr(levels, level)):
            continue
        made, above = build(block, levels), build(block, levels.above(level))
        for key in keys:
            found = resolve(key, levels)
            final = getattr(made, key.attribute)
            told = level == "agent" and found.origin == "gateway" and getattr(above, key.attribute) == final
            if found.origin != "default" and final != found.value and not told:
                yield Remark(f"{where}.{key.dotted}", f"{shown(found.value)} counts as {shown(final)}")


def _checks(block: type[Block], keys: tuple[Key, ...]) -> bool:
    """Whether the class may refuse or change values when it is made."""
    return hasattr(block, "__attrs_post_init__") or any(key.field and key.field.validator for key in keys)


def _says(keys: tuple[Key, ...], tree: Tree) -> bool:
    """Whether the tree holds one of the keys."""
    return any(section(tree, key.path).get(key.name) is not None for key in keys)


def _of_key(keys: list[Key], raw: Any, levels: Levels, level: Level, here: str, source: Any) -> Iterator[Remark]:
    for key in keys:
        if level not in key.levels and key.block:  # `timezone` of an agent's entry is somebody else's
            yield Remark(here, f"counts at {key.levels[0]} level only, and is not used here")
        elif raw is not None and level in key.levels:
            yield from _of_value(key, raw, levels.above(level), here, source)


def _of_value(key: Key, raw: Any, above: Levels, here: str, source: Any) -> Iterator[Remark]:
    try:
        value = read(key, raw)
    except ValueError as expected:
        yield Remark(here, f"{shown(source)} is not {expected}; {instead(key, above)}")
        return
    if changed(key, raw, value):
        yield Remark(here, f"{shown(source)} counts as {shown(value)}")


def instead(key: Key, levels: Levels) -> str:
    """What is used in place of a value that does not count."""
    value, origin, _ = resolve(key, levels)
    if origin == "default":
        return (
            f"{shown(value)}, the default, is used"
            if isinstance(value, int | float) or value
            else "the default is used"
        )
    own = resolve(key._replace(zone=False), levels).origin == "gateway"
    return f"{shown(value)}, from gateway.{key.dotted if own else TIMEZONE}, is used"


def _of_section(raw: Any, reach: set[Level], level: Level, here: str) -> Iterator[Remark]:
    if level not in reach:
        if level == "agent":
            yield Remark(here, "counts at gateway level only, and is not used here")
    elif raw is not None and not isinstance(raw, dict):
        yield Remark(here, f"{shown(raw)} is not an object, and counts as not set")


def _of_stranger(name: str, outline: Outline, path: str, level: Level, here: str) -> Iterator[Remark]:
    """An unknown key; beside the sections only one that is ours but for its spelling is worth a word."""
    known = outline.names(path, level)
    if path:
        yield Remark(here, f"unknown key, not used{suggestion(name, known)}")
    elif folded(name) in {folded(each) for each in known}:
        yield Remark(here, f'is not read; did you mean "{nearest(name, known)}"?')
