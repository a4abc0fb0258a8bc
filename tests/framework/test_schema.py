"""What a caller is told of an attrs class, and what is made of its arguments."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Optional

import attrs
import pytest
from attrs import Factory, field, frozen
from hypothesis import assume, given, settings, strategies as st
from jsonschema import Draft202012Validator

from reverie.schema import camel, json_schema, structured
from reverie_hookspecs import PluginError, Refused

ABOUT = "about"


@frozen
class Place:
    city: str
    height: float = 0.0


@frozen
class Query:
    """One of everything."""

    query: str = field(metadata={ABOUT: "What to look for.", "min": 1, "max": 40})
    max_results: float = field(default=6, metadata={"lenient": True})
    passage_tokens: int = field(default=120, metadata={"min": 40, "max": 400})
    corpus: Literal["memory", "shared", "all"] = "memory"
    from_: int = 1
    confirm: bool = False
    tags: tuple[str, ...] = field(default=(), metadata={"max": 3})
    near: Place | None = None
    others: list[Place] = Factory(list)
    weights: dict[str, float] = Factory(dict)


def refused(arguments: object, cls: type = Query) -> str:
    with pytest.raises(Refused) as caught:
        structured(cls, arguments)
    return str(caught.value)


def one(hint: Any, **metadata: Any) -> type:
    """A class with one field of this annotation, which must be given."""
    return attrs.make_class("One", {"a": attrs.field(type=hint, metadata=metadata)}, frozen=True)


# The schema


def test_a_class_is_told_as_a_plain_object() -> None:
    place = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "height": {"type": "number", "default": 0.0}},
        "required": ["city"],
        "additionalProperties": False,
    }
    assert json_schema(Query) == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 40, "description": "What to look for."},
            "maxResults": {"type": "number", "default": 6},
            "passageTokens": {"type": "integer", "minimum": 40, "maximum": 400, "default": 120},
            "corpus": {"type": "string", "enum": ["memory", "shared", "all"], "default": "memory"},
            "from": {"type": "integer", "default": 1},
            "confirm": {"type": "boolean", "default": False},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
            "near": place,
            "others": {"type": "array", "items": place},
            "weights": {"type": "object", "additionalProperties": {"type": "number"}},
        },
        "required": ["query"],
        "additionalProperties": False,
    }


def test_a_class_without_fields_takes_nothing() -> None:
    nothing = attrs.make_class("Nothing", {})
    assert json_schema(nothing)["properties"] == {} and structured(nothing, {}) == nothing()
    assert refused({"a": 1}, nothing) == 'there is no argument "a"; it takes none'


@frozen
class Endless:
    again: Endless | None = None


@frozen
class Unfindable:
    there: Nowhere  # type: ignore[name-defined]  # noqa: F821


@frozen
class Twins:
    a_b: int
    aB: int  # noqa: N815


UNTELLABLE: list[tuple[Any, str]] = [
    (dict, "no attrs class"),
    (object(), "no attrs class"),
    (Endless, "holds itself"),
    (Unfindable, "cannot be read"),
    (Twins, "both called 'aB'"),
    (one(object), "One.a: object cannot be told"),
    (one(Any), "cannot be told"),
    (one(list), "cannot be told"),
    (one(set[str]), "cannot be told"),
    (one(tuple[int, str]), "cannot be told"),
    (one(tuple[()]), "cannot be told"),
    (one(dict[int, str]), "cannot be told"),
    (one(int | str), "cannot be told"),
    (one(int | str | None), "cannot be told"),
    (one(None), "cannot be told"),
    (one(bytes), "cannot be told"),
    (one(Literal["a", 1]), "not all strings"),
    (one(Literal[b"a"]), "not all strings"),
    (one(str, about=5), "its about is int"),
    (one(int, min="1"), "its min is '1'"),
    (one(int, max=float("nan")), "its max is nan"),
    (one(int, min=3, max=2), "its min 3 is over its max 2"),
    (one(str, min=1.5), "counts neither"),
    (one(list[str], min=-1), "counts neither"),
    (one(bool, min=0), "mean nothing for true or false"),
    (one(Literal["a"], max=1), "mean nothing"),
    (one(Place, max=1), "mean nothing"),
    (one(int, lenient=True), "no default"),
]


@pytest.mark.parametrize(("cls", "told"), UNTELLABLE, ids=[str(number) for number in range(len(UNTELLABLE))])
def test_what_cannot_be_told_plainly_is_an_error_of_the_plugin(cls: Any, told: str) -> None:
    for use in (json_schema, lambda cls: structured(cls, {})):
        with pytest.raises(PluginError, match=told):
            use(cls)


@pytest.mark.parametrize(
    ("name", "wire"), [("query", "query"), ("max_results", "maxResults"), ("a_b_c", "aBC"), ("x1_2y", "x12y")]
)
def test_a_name_is_in_camel_case_outside(name: str, wire: str) -> None:
    assert camel(name) == wire


# The instance


def test_every_argument_arrives_as_its_class_has_it() -> None:
    made = structured(
        Query,
        {
            "query": "tea",
            "maxResults": 2.7,
            "passageTokens": 50.0,
            "corpus": "all",
            "from": 3,
            "confirm": True,
            "tags": ["a", "b"],
            "near": {"city": "Oslo", "height": 12},
            "others": [{"city": "雨"}],
            "weights": {"a": 1},
        },
    )
    assert made == Query("tea", 2.7, 50, "all", 3, True, ("a", "b"), Place("Oslo", 12), [Place("雨")], {"a": 1})
    assert type(made.passage_tokens) is int


def test_what_is_not_given_keeps_its_default() -> None:
    assert structured(Query, {"query": "tea"}) == Query("tea")


@pytest.mark.parametrize("value", ["six", None, True, [], {}])
def test_a_lenient_argument_that_does_not_fit_counts_as_not_given(value: object) -> None:
    assert structured(Query, {"query": "tea", "maxResults": value}).max_results == 6


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "query is missing, and a string of 1 to 40 characters is expected"),
        ({"query": 5}, "query is 5, and a string of 1 to 40 characters is expected"),
        ({"query": ""}, "query has 0 characters, and a string of 1 to 40 characters is expected"),
        ({"query": "x" * 41}, "query has 41 characters, and a string of 1 to 40 characters is expected"),
        ({"query": None}, "query is null, and a string of 1 to 40 characters is expected"),
        ({"query": "\ud800"}, 'query is "\\ud800", and a string of 1 to 40 characters is expected'),
        ({"passageTokens": 39}, "passageTokens is 39, and a whole number from 40 to 400 is expected"),
        ({"passageTokens": True}, "passageTokens is true, and a whole number from 40 to 400 is expected"),
        ({"passageTokens": 50.5}, "passageTokens is 50.5, and a whole number from 40 to 400 is expected"),
        ({"from": "3"}, 'from is "3", and a whole number is expected'),
        ({"confirm": 1}, "confirm is 1, and true or false is expected"),
        ({"confirm": "yes"}, 'confirm is "yes", and true or false is expected'),
        ({"corpus": "attic"}, 'corpus is "attic", and "memory", "shared" or "all" is expected'),
        ({"tags": "a"}, 'tags is "a", and a list of at most 3 items is expected'),
        ({"tags": ["a"] * 4}, "tags has 4 items, and a list of at most 3 items is expected"),
        ({"tags": ["a", 2]}, "tags[1] is 2, and a string is expected"),
        ({"near": "Oslo"}, 'near is "Oslo", and an object with city, height is expected'),
        ({"near": {}}, "near.city is missing, and a string is expected"),
        ({"near": {"city": "Oslo", "hight": 1}}, 'there is no argument "near.hight"; did you mean "height"?'),
        ({"others": [{"city": 1}]}, "others[0].city is 1, and a string is expected"),
        ({"weights": {"a": "b"}}, 'weights.a is "b", and a number is expected'),
        ({"weights": {"a": float("inf")}}, "weights.a is a number beyond 1e308, and a number is expected"),
        ({"weights": []}, "weights is a list, and an object is expected"),
        ({"max_results": 3}, 'there is no argument "max_results"; did you mean "maxResults"?'),
        ({"from_": 3}, 'there is no argument "from_"; did you mean "from"?'),
        ({"zzz": 3}, 'there is no argument "zzz"; there are query, maxResults, passageTokens'),
    ],
)
def test_a_wrong_argument_is_named_with_what_is_wrong_and_what_is_expected(arguments: Any, sentence: str) -> None:
    given = arguments if arguments == {} or "query" in arguments else {"query": "tea", **arguments}
    assert refused(given).startswith(sentence)


@pytest.mark.parametrize("arguments", [None, 5, "tea", [], [["query", "tea"]]])
def test_arguments_that_are_no_object_are_refused(arguments: object) -> None:
    assert "an object with query, maxResults" in refused(arguments)


def test_every_problem_is_told_at_once_and_no_more_than_five() -> None:
    told = refused({"passageTokens": "x", "confirm": 1})
    assert told.count("expected") == 3 and told.startswith("query is missing")
    assert refused({"query": "tea", "tags": [1, 2, 3], "a": 1, "b": 1, "c": 1}).endswith("; and 1 more")


def test_a_sentence_stays_on_one_line_whatever_was_given() -> None:
    told = refused({"query": "tea", "a\nb\x1b[31m": 1, "corpus": "x" * 500 + "\n"})
    assert "\n" not in told and "\x1b" not in told and len(told) < 400


def test_a_validator_of_the_class_speaks_to_the_caller() -> None:
    def even(instance: object, attribute: object, value: int) -> None:
        if value % 2:
            raise ValueError("a is odd, and an even number is expected")

    cls = attrs.make_class("Even", {"a": attrs.field(type=int, validator=even)})
    assert structured(cls, {"a": 2}).a == 2
    assert refused({"a": 3}, cls) == "a is odd, and an even number is expected"


def test_private_fields_and_those_that_are_not_given_have_no_surprises() -> None:
    cls = attrs.make_class(
        "Private", {"_inner": attrs.field(type=int), "count": attrs.field(type=int, init=False, default=5)}
    )
    assert list(json_schema(cls)["properties"]) == ["inner"]
    assert structured(cls, {"inner": 3})._inner == 3


# Promises

BOUNDS = st.tuples(st.integers(-5, 5), st.integers(0, 5)).map(lambda pair: {"min": pair[0], "max": pair[0] + pair[1]})
COUNTS = st.tuples(st.integers(0, 2), st.integers(0, 3)).map(lambda pair: {"min": pair[0], "max": pair[0] + pair[1]})
SOME = st.one_of(st.just({}), COUNTS)
SCALARS: list[tuple[Any, st.SearchStrategy[dict[str, Any]]]] = [
    (str, SOME),
    (int, st.one_of(st.just({}), BOUNDS)),
    (float, st.one_of(st.just({}), BOUNDS)),
    (bool, st.just({})),
    (Literal["a", "b"], st.just({})),
    (Literal[1, 2], st.just({})),
    (Literal[True], st.just({})),
    (Optional[int], st.just({})),  # noqa: UP045
]
FIELDS = st.one_of(*(st.tuples(st.just(hint), about) for hint, about in SCALARS))


def fields(inner: st.SearchStrategy[tuple[Any, dict[str, Any]]]) -> st.SearchStrategy[tuple[Any, dict[str, Any]]]:
    """Annotations with their metadata, nested."""
    hints = inner.map(lambda pair: pair[0])
    return st.one_of(
        st.tuples(hints.map(lambda hint: list[hint]), SOME),  # type: ignore[valid-type]
        st.tuples(hints.map(lambda hint: tuple[hint, ...]), SOME),  # type: ignore[valid-type]
        st.tuples(hints.map(lambda hint: Sequence[hint]), SOME),  # type: ignore[valid-type]
        st.tuples(hints.map(lambda hint: dict[str, hint]), st.just({})),  # type: ignore[valid-type]
        st.tuples(hints.map(lambda hint: Mapping[str, hint]), st.just({})),  # type: ignore[valid-type]
        st.tuples(st.lists(inner, max_size=2).flatmap(classes), st.just({})),
    )


def classes(pairs: list[tuple[Any, dict[str, Any]]]) -> st.SearchStrategy[type]:
    """A class with these fields, some of which need not be given."""

    def made(given: list[bool]) -> type:
        return attrs.make_class(
            "Made",
            {
                f"field_{number}": attrs.field(type=hint, metadata=about, **({} if needed else {"default": None}))
                for number, ((hint, about), needed) in enumerate(zip(pairs, given, strict=True))
            },
            frozen=True,
            kw_only=True,
        )

    return st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)).map(made)


MADE = st.lists(st.recursive(FIELDS, fields, max_leaves=4), max_size=3).flatmap(classes)
JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-6, 6),
        st.sampled_from([3.0, 2.5, -1.0, 1e300, 10**400]),
        st.sampled_from(["", "a", "b", "日本語", "1"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["field0", "field1", "field2", "x"]), inner, max_size=3),
    ),
    max_leaves=6,
)


def likely(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that have a good chance to be of a schema, so that both sides of the promise are tried."""
    kind = schema["type"]
    if kind == "object":
        properties = schema.get("properties", {})
        if not isinstance(schema["additionalProperties"], bool):
            return st.dictionaries(st.sampled_from(["a", "b"]), near(schema["additionalProperties"]), max_size=2)
        needed = {name: near(one) for name, one in properties.items() if name in schema["required"]}
        optional = {name: near(one) for name, one in properties.items() if name not in schema["required"]}
        return st.fixed_dictionaries(needed, optional=optional)
    if kind == "array":
        return st.lists(near(schema["items"]), max_size=3)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    simple = {"string": st.text(max_size=3), "integer": st.integers(-6, 9), "boolean": st.booleans()}
    return simple.get(kind, st.sampled_from([1, 2.5, -3]))


def near(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    return st.integers(0, 9).flatmap(lambda dice: JSON if dice == 0 else likely(schema))


@given(MADE)
@settings(max_examples=80)
def test_every_schema_is_valid_and_plain(cls: type) -> None:
    schema = json_schema(cls)
    Draft202012Validator.check_schema(schema)
    text = json.dumps(schema, allow_nan=False)
    assert schema["type"] == "object"
    assert not any(f'"{word}"' in text for word in ("$schema", "$ref", "anyOf", "oneOf", "allOf", "$defs"))


@given(st.data())
@settings(max_examples=200)
def test_what_validates_is_made_and_what_does_not_is_refused(data: st.DataObject) -> None:
    cls = data.draw(MADE)
    schema = json_schema(cls)
    value = data.draw(near(schema))
    valid = Draft202012Validator(schema).is_valid(value)
    if valid:
        assert isinstance(structured(cls, value), cls)
    else:
        assert "\n" not in refused(value, cls)


@given(st.data())
@settings(max_examples=80)
def test_what_is_made_holds_what_was_given(data: st.DataObject) -> None:
    cls = data.draw(MADE)
    value = data.draw(likely(json_schema(cls)))
    assume(Draft202012Validator(json_schema(cls)).is_valid(value))
    assert told(structured(cls, value), value) == value


def told(made: Any, like: Any) -> Any:
    """An instance as JSON again, with the keys that were given."""
    if attrs.has(type(made)):
        names = {camel(one.name): one.name for one in attrs.fields(type(made))}
        return {wire: told(getattr(made, names[wire]), like[wire]) for wire in like}
    if isinstance(made, dict):
        return {name: told(one, like[name]) for name, one in made.items()}
    if isinstance(made, list | tuple):
        return [told(one, other) for one, other in zip(made, like, strict=True)]
    return made
