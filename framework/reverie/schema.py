"""An attrs class as a caller that speaks JSON sees it: the schema of its arguments, and an instance made of them.

A field is called in camelCase outside (``max_results`` is ``maxResults``, ``from_`` is ``from``) and may say more in
its metadata: ``about``, a sentence for the caller; ``min`` and ``max``, of a number, of the characters of a string or
of the items of a list; ``lenient``, a value that does not fit counts as not given. A field with a default need not be
given. Kinds: str, int, float, bool, Literal, ``X | None``, lists, tuples and Sequences of one kind, dicts by str, and
other attrs classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import attrs

from reverie_hookspecs import PluginError, Refused

from .kind import SCALARS, Argument, Kind, Many, Named, Nested, Scalar, bounds

C = TypeVar("C")


def json_schema(cls: type) -> dict[str, Any]:
    """The JSON Schema 2020-12 of a class's arguments: a plain object, without references and alternatives.

    Raises PluginError where a field is of a kind that cannot be told so plainly.
    """
    return nested(cls).schema()


def structured(cls: type[C], arguments: object) -> C:
    """An instance made of a JSON object; Refused names every argument that is wrong, in one sentence.

    Raises PluginError where the class cannot be described at all.
    """
    problems: list[str] = []
    made = nested(cls).read(arguments, "", problems)
    if problems:
        more = f"; and {len(problems) - 5} more" if len(problems) > 5 else ""
        raise Refused("; ".join(problems[:5]) + more)
    return made  # type: ignore[no-any-return]


# From hints to kinds


def nested(cls: type, outer: tuple[type, ...] = ()) -> Nested:
    """The kind of an attrs class; ``outer`` are the classes it stands in."""
    if not (isinstance(cls, type) and attrs.has(cls)):
        raise PluginError(f"{shown_hint(cls)} is no attrs class, and only such a class says what its arguments are")
    if cls in outer:
        raise PluginError(
            f"{cls.__name__} holds itself, and a plain schema has no end then; name the thing by a string"
        )
    try:
        hints = get_type_hints(cls)
    except (NameError, AttributeError, TypeError, ValueError, SyntaxError, LookupError, ImportError) as error:
        raise PluginError(
            f"the annotations of {cls.__name__} cannot be read ({error}); "
            "import what they name outside of TYPE_CHECKING, at the top of the module"
        ) from error
    found: dict[str, Argument] = {}
    for attribute in attrs.fields(cls):
        if attribute.init:
            one = argument(cls, attribute, hints.get(attribute.name, Any), (*outer, cls))
            if found.setdefault(one.wire, one) is not one:
                raise PluginError(f"two fields of {cls.__name__} are both called {one.wire!r} outside; rename one")
    return Nested(cls, found)


def argument(cls: type, attribute: attrs.Attribute[Any], hint: Any, outer: tuple[type, ...]) -> Argument:
    """One field as an argument; PluginError names class and field."""
    try:
        about, lenient = attribute.metadata.get("about", ""), bool(attribute.metadata.get("lenient"))
        if not isinstance(about, str):
            raise PluginError(f"its about is {type(about).__name__} and not a string")
        kind = kind_of(hint, outer).bounded(*bounds(attribute.metadata))
        if lenient and attribute.default is attrs.NOTHING:
            raise PluginError("it is lenient and has no default to fall to")
    except PluginError as error:
        raise PluginError(f"{cls.__name__}.{attribute.name}: {error}") from None
    alias = attribute.alias or attribute.name
    return Argument(alias, camel(alias.rstrip("_")), kind, about, attribute.default, lenient)


def kind_of(hint: Any, outer: tuple[type, ...]) -> Kind:
    """The kind an annotation stands for."""
    origin, parts = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and hint in SCALARS:
        return Scalar(hint)
    if isinstance(hint, type) and origin is None and attrs.has(hint):
        return nested(hint, outer)
    if origin is Literal:
        return choice(parts)
    if type(None) in parts and origin in UNIONS and len(parts) == 2:
        return kind_of(next(part for part in parts if part is not type(None)), outer)
    if parts and (origin in (list, Sequence) or (origin is tuple and parts[1:] == (...,))):
        return Many(list if origin is list else tuple, kind_of(parts[0], outer))
    if origin in (dict, Mapping) and parts[:1] == (str,):
        return Named(kind_of(parts[1], outer))
    raise PluginError(
        f"{shown_hint(hint)} cannot be told in a plain JSON Schema; "
        "use str, int, float, bool, Literal, list[...], tuple[..., ...], dict[str, ...] or an attrs class"
    )


UNIONS = (Union, type(int | str))


def choice(words: tuple[Any, ...]) -> Scalar:
    """One of several constants of one kind."""
    kinds = {type(word) for word in words}
    if len(kinds) != 1 or not kinds <= {str, int, bool}:
        raise PluginError(f"the words of Literal{list(words)} are not all strings, all whole numbers or all booleans")
    return Scalar(kinds.pop(), words)


def camel(name: str) -> str:
    """A field's name as it is outside.

    >>> camel("max_results")
    'maxResults'
    """
    head, *rest = name.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)


def shown_hint(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint).replace("typing.", "")
