"""Put named things in order by what each says of its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from typing import Protocol, TypeVar

from reverie_hookspecs import OrderError


class Named(Protocol):
    """Anything with a name of its own."""

    @property
    def name(self) -> str: ...


class Placed(Named, Protocol):
    """Anything with a name and a wish about its neighbours."""

    @property
    def after(self) -> tuple[str, ...]: ...
    @property
    def before(self) -> tuple[str, ...]: ...


N = TypeVar("N", bound=Named)
P = TypeVar("P", bound=Placed)


def arrange(items: Iterable[P], rank: Callable[[P], int] = lambda item: 0) -> list[P]:
    """Sort items so that every ``after`` and ``before`` holds.

    A name nobody bears is ignored: its plugin may be switched off tonight. Among items free to go next the one of
    the lowest rank goes first, then the first by name, so the order is the same on every machine. Twins and circles
    raise OrderError, which names them.
    """
    named = by_name(items)
    graph: TopologicalSorter[str] = TopologicalSorter(dict.fromkeys(named, ()))
    for item in named.values():
        for other in named.keys() & set(item.after):
            graph.add(item.name, other)
        for other in named.keys() & set(item.before):
            graph.add(other, item.name)
    try:
        graph.prepare()
    except CycleError as error:
        circle = " -> ".join(reversed(error.args[1]))
        raise OrderError(f"cannot be put in order: {circle}; take one `after` or `before` of these back") from None
    return list(drain(graph, named, rank))


def by_name(items: Iterable[N]) -> dict[str, N]:
    """Name -> item; two of one name raise OrderError."""
    named: dict[str, N] = {}
    for item in items:
        if item.name in named:
            raise OrderError(f"two things are called {item.name!r}; switch one of their plugins off in config.json")
        named[item.name] = item
    return named


def drain(graph: TopologicalSorter[str], named: dict[str, P], rank: Callable[[P], int]) -> Iterable[P]:
    """The items of a prepared graph, the lowest-ranked free one first."""
    waiting: list[tuple[int, str]] = []
    while graph.is_active():
        for name in graph.get_ready():
            heappush(waiting, (rank(named[name]), name))
        name = heappop(waiting)[1]
        yield named[name]
        graph.done(name)
