"""Decide which installed plugin sits in which slot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Final, Literal

from attrs import evolve, frozen

from reverie_hookspecs import ConfigError, Plugin, PluginError

GROUP: Final = "reverie"
EVERY: Final = "*"
FIRST_PARTY: Final = frozenset({
    "sections", "budget-banner", "compactor", "route-out", "model", "model-claude-cli", "reviewer", "op-selector",
    "applier", "fts5-archive", "staleness-gc", "shared-vault", "shared-promoter", "reflection", "knowledge-graph",
    "isolation", "session-compaction", "skill-learning", "sessions", "dashboard",
})  # fmt: skip
"""Names a configuration may always say, whether or not this installation has them."""
SAFETY: Final = frozenset({"applier", "isolation"})
"""Slots that stop a run when the configuration names them and they cannot be filled."""

SHAPE: Final[tuple[tuple[str, type, str], ...]] = (
    ("slot", str, "a string"),
    ("requires_reverie", str, "a string"),
    ("provides", type, "a tuple of capabilities"),
    ("blocks", type, "a tuple of Block classes"),
    ("commands", object, "a tuple of click commands"),
    ("routes", object, "a tuple of routes"),
    ("duties", object, "a tuple of duties"),
)
"""The class attributes of a plugin: name, kind of its parts, and what belongs there in words."""

State = Literal["active", "off", "waiting", "failed", "not installed"]


@frozen
class Row:
    """One plugin and what became of it; ``reason`` is a sentence for every state but active."""

    slot: str
    name: str
    state: State
    reason: str = ""
    point: EntryPoint | None = None
    plugin: type[Plugin] | None = None

    @property
    def distribution(self) -> str:
        """Name and version of the distribution it comes from."""
        dist = self.point.dist if self.point else None
        return f"{dist.name} {dist.version}" if dist else ""

    def failed(self, reason: str) -> Row:
        return evolve(self, state="failed", reason=reason)


Points = Mapping[str, tuple[EntryPoint, ...]]
Choice = Mapping[str, bool | str]


def installed() -> dict[str, tuple[EntryPoint, ...]]:
    """Every plugin any installed distribution offers, by entry-point name; more than one of a name are twins.

    One entry point seen twice (an editable install beside its own metadata) counts once.
    """
    found: dict[str, dict[str, EntryPoint]] = {}
    for point in entry_points(group=GROUP):
        home = point.dist.name if point.dist else ""
        found.setdefault(point.name, {}).setdefault(home, point)
    return {name: tuple(points.values()) for name, points in sorted(found.items())}


def choose(points: Points, choice: Choice) -> list[Row]:
    """A row for every plugin installed or named, by slot; what is switched off is never imported.

    Raises ConfigError, with all problems at once, where the configuration names what cannot be meant.
    """
    problems = [*unknown_words(points, choice)]
    given = {slot: who for slot, who in choice.items() if isinstance(who, str)}
    rows = [seat(points, slot, who) for slot, who in given.items() if who in points]
    problems += [misfit(row) for row in rows if misfit(row)]
    if problems:
        raise ConfigError(problems)
    seated = {row.name for row in rows}
    rows += [offer(points, name, choice) for name in points if name not in seated]
    named = {who if isinstance(who, str) else slot for slot, who in choice.items() if slot != EVERY}
    rows += [absent(name, choice) for name in sorted(named - {*points})]
    return sorted(rows, key=lambda row: (row.slot, row.name))


def unknown_words(points: Points, choice: Choice) -> Iterable[str]:
    """Sentences about names that nothing bears, with the nearest that something does."""
    known = {*points, *FIRST_PARTY}
    for slot, who in choice.items():
        for word in (slot, who):
            if isinstance(word, str) and word != EVERY and word not in known:
                yield f"plugins: no installed plugin is called {word!r}{nearest(word, known)}"


def nearest(word: str, known: Iterable[str]) -> str:
    """A closing phrase with the most similar known word, or the way to see them all."""
    from .config.remark import nearest as near

    return f"; did you mean {found!r}?" if (found := near(word, known)) else f"; there are {', '.join(sorted(known))}"


def seat(points: Points, slot: str, name: str) -> Row:
    """The row of a plugin that the configuration puts into a slot."""
    return loaded(Row(slot, name, "active", point=points[name][0]), points[name])


def misfit(row: Row) -> str:
    """What is wrong with a plugin in a slot it does not claim, or nothing."""
    claimed = row.plugin.slot or row.name if row.plugin else row.slot
    if claimed == row.slot:
        return ""
    return f"plugins: {row.name!r} does not fit slot {row.slot!r}: it is made for {claimed!r}"


def offer(points: Points, name: str, choice: Choice) -> Row:
    """The row of a plugin that the configuration does not put anywhere by name."""
    why = "switched off in config.json" if name in choice else 'not named, and "*" is false'
    row = Row(name, name, "off", why, points[name][0])
    said = choice.get(name, choice.get(EVERY, True))
    if isinstance(said, str):
        return evolve(row, reason=f"{said!r} sits in its slot")
    if not said:
        return row
    row = loaded(evolve(row, state="active", reason=""), points[name])
    claimed = row.plugin.slot or name if row.plugin else name
    if claimed == name:
        return row
    reason = f'waits until config.json says "plugins": {{"{claimed}": "{name}"}}'
    return evolve(row, slot=claimed, state="waiting", reason=reason)


def absent(name: str, choice: Choice) -> Row:
    """The row of a first-party name that is not installed here."""
    slot = next((slot for slot, who in choice.items() if who == name), name)
    return Row(slot, name, "not installed", "no installed distribution offers it")


def loaded(row: Row, points: tuple[EntryPoint, ...]) -> Row:
    """The row with its class, or failed with the reason."""
    if len(points) > 1:
        homes = " and ".join(sorted(point.dist.name if point.dist else "?" for point in points))
        return row.failed(f"the name {row.name!r} is offered by both {homes}; uninstall one of them")
    try:
        plugin = points[0].load()
    except BaseException as error:  # a stranger's module may raise anything when imported
        if isinstance(error, KeyboardInterrupt):
            raise
        return row.failed(f"cannot be imported: {type(error).__name__}: {error}; mend or uninstall it")
    if not (isinstance(plugin, type) and issubclass(plugin, Plugin)):
        return row.failed(f"{points[0].value} is no Plugin class; its entry point must name one")
    if flaw := misshapen(plugin):
        return row.failed(flaw)
    return fitting(evolve(row, plugin=plugin))


def misshapen(plugin: type[Plugin]) -> str:
    """What is wrong with the class attributes of a plugin, or nothing."""
    for name, kind, wanted in SHAPE:
        value = getattr(plugin, name, None)
        whole = isinstance(value, str) if kind is str else isinstance(value, tuple)
        if not whole or (kind is not str and not all(isinstance(one, kind) for one in value or ())):
            return f"its class says {name} = {value!r}, where {wanted} belongs; mend it"
    return ""


def fitting(row: Row) -> Row:
    """The row, failed if its plugin asks for another reverie than this."""
    wanted = row.plugin.requires_reverie if row.plugin else ""
    if not wanted:
        return row
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    from . import __version__

    try:
        fits = SpecifierSet(wanted).contains(__version__, prereleases=True)
    except InvalidSpecifier:
        return row.failed(f"its requires_reverie {wanted!r} is no PEP 440 range; mend it, for example '>=1,<2'")
    return (
        row if fits else row.failed(f"needs reverie {wanted}, and this is {__version__}; install a version that fits")
    )


def unfilled(rows: Iterable[Row], choice: Choice) -> list[Row]:
    """The safety slots that the configuration names and nothing fills."""
    rows = list(rows)
    filled = {row.slot for row in rows if row.state == "active"}
    wanted = {slot for slot in SAFETY & {*choice} if choice[slot] is not False}
    return [row for row in rows if row.slot in wanted - filled and row.state in ("failed", "not installed")]


def demand(rows: Iterable[Row], choice: Choice) -> None:
    """Raise PluginError if a safety slot that the configuration names is empty."""
    for row in unfilled(rows, choice):
        raise PluginError(
            f"config.json names the safety slot {row.slot!r}, and {row.name!r} cannot fill it: {row.reason}"
        )
