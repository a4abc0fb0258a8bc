"""The five hooks as typed calls: pluggy is spoken to here and nowhere else."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Final, cast

from attrs import define
from pluggy import HookImpl, PluginManager, PluginValidationError

import reverie_hookspecs
from reverie_hookspecs import Plugin, PluginError, ReverieError, specs

if TYPE_CHECKING:
    from reverie_hookspecs import Agent, Corpus, Dream, IndexJob, Proposal, Section, Stage, Tool

logger = logging.getLogger(__name__)
ANSWERS: Final = {
    "compose_section": "Section",
    "on_dream": "Stage",
    "select_ops": "Proposal",
    "on_index": "IndexJob",
    "tool_registry": "Tool",
}
"""Hook -> the name of the value an implementation returns."""
FIELDS: Final[dict[str, type]] = {
    "name": str,
    "title": str,
    "body": str,
    "file": str,
    "after": tuple,
    "before": tuple,
    "notes": tuple,
}


@define(eq=False)
class Hooks:
    """The hooks of one deployment; each call returns one flat list, before it is put in order."""

    _manager: PluginManager

    @classmethod
    def over(cls, plugins: Mapping[str, Plugin], trace: bool = False) -> tuple[Hooks, dict[str, str]]:
        """The hooks of these plugins, and slot -> reason for those whose hooks do not fit a spec."""
        manager = PluginManager("reverie")
        manager.add_hookspecs(specs)
        unfit = {slot: reason for slot, plugin in plugins.items() if (reason := register(manager, slot, plugin))}
        if trace:
            manager.trace.root.setwriter(lambda line: logger.warning("trace %s", line.rstrip()))
            manager.enable_tracing()
        return cls(manager), unfit

    def compose_section(self, agent: Agent) -> list[Section]:
        return cast("list[Section]", self._manager.hook.compose_section(agent=agent))

    def on_dream(self, agent: Agent) -> list[Stage]:
        return cast("list[Stage]", self._manager.hook.on_dream(agent=agent))

    def select_ops(self, dream: Dream) -> list[Proposal]:
        return cast("list[Proposal]", self._manager.hook.select_ops(dream=dream))

    def on_index(self, corpus: Corpus) -> list[IndexJob]:
        return cast("list[IndexJob]", self._manager.hook.on_index(corpus=corpus))

    def tool_registry(self, agent: Agent) -> list[Tool]:
        return cast("list[Tool]", self._manager.hook.tool_registry(agent=agent))


def register(manager: PluginManager, slot: str, plugin: Plugin) -> str:
    """Put a plugin's hooks in, each under guard; why that cannot be, or nothing."""
    stray = [hook for hook in implemented(type(plugin)) if hook not in ANSWERS]
    if stray:
        return f"no hook is called {stray[0]!r}; reverie has {', '.join(ANSWERS)}"
    try:
        manager.register(plugin, name=slot)
    except (PluginValidationError, ValueError) as error:
        manager.unregister(name=slot)
        return f"a hook of it does not fit: {' '.join(str(error).split())}"
    for caller in manager.get_hookcallers(plugin) or ():
        for impl in caller.get_hookimpls():
            if impl.plugin is plugin:
                guard(impl, slot, caller.name)
    return ""


def implemented(plugin: type[Plugin]) -> list[str]:
    """The hooks a plugin class implements, by name, each once."""
    found = set()
    for name in dir(plugin):
        options = getattr(getattr(plugin, name, None), "reverie_impl", None)
        if isinstance(options, dict):
            found.add(str(options.get("specname") or name))
    return sorted(found)


def guard(impl: HookImpl, slot: str, hook: str) -> None:
    """Make an implementation's failures name plugin and hook; pluggy's own names neither."""
    make = guarded_wrapper if impl.wrapper else guarded
    object.__setattr__(impl, "function", make(impl.function, slot, hook))


def guarded(function: Callable[..., object], slot: str, hook: str) -> Callable[..., object]:
    """An implementation that answers one value of the hook's kind or None, or raises PluginError."""

    @wraps(function)
    def call(*args: object) -> object:
        with Naming(slot, hook):
            answer = function(*args)
        if answer is not None and not is_kind(answer, hook):
            raise PluginError(wrong(answer, slot, hook, f"one {ANSWERS[hook]} or None"))
        if flaw := flawed(answer):
            raise PluginError(f"plugin {slot!r} returned from {hook} a {ANSWERS[hook]} whose {flaw}; mend it")
        return answer

    return call


def guarded_wrapper(function: Callable[..., Any], slot: str, hook: str) -> Callable[..., Any]:
    """A wrapper that answers a flat list of the hook's kind, or raises PluginError."""

    @wraps(function)
    def call(*args: object) -> Generator[None, Any, list[Any]]:
        inner = function(*args)
        with Naming(slot, hook):
            next(inner)
        try:
            answers = yield
            resume = partial(inner.send, answers)
        except Exception as error:  # noqa: BLE001 - the wrapper itself decides what to do with an inner failure
            resume = partial(inner.throw, error)
        try:
            with Naming(slot, hook):
                resume()
        except StopIteration as stop:
            return whole(stop.value, slot, hook)
        raise PluginError(f"plugin {slot!r} yields twice in its wrapper of {hook}; a wrapper yields once")

    return call


class Naming:
    """Whatever is raised inside names plugin and hook, and is an error of ours."""

    def __init__(self, slot: str, hook: str) -> None:
        self.place = f"in plugin {slot!r}, hook {hook}"
        self.remedy = f'mend it, or switch it off with "plugins": {{"{slot}": false}} in config.json'

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        ours = isinstance(error, Exception | SystemExit) and not isinstance(error, StopIteration)
        if error is None or not ours or hasattr(error, "__notes__"):
            return
        if isinstance(error, ReverieError):
            error.add_note(self.place)
            return
        told = PluginError(f"{type(error).__name__} {self.place}: {error}; {self.remedy}")
        told.add_note(self.place)
        raise told from error


def whole(answers: object, slot: str, hook: str) -> list[Any]:
    """A wrapper's answer, checked."""
    if isinstance(answers, list) and all(is_kind(answer, hook) for answer in answers):
        if flaw := next(filter(None, map(flawed, answers)), ""):
            raise PluginError(f"plugin {slot!r} returned from {hook} a {ANSWERS[hook]} whose {flaw}; mend it")
        return answers
    raise PluginError(wrong(answers, slot, hook, f"a list of {ANSWERS[hook]}"))


def flawed(answer: object) -> str:
    """Which field of a value is of a wrong kind, or nothing; the fields that the kernel itself reads."""
    for field, kind in FIELDS.items():
        value = getattr(answer, field, None if answer is None else kind())
        if answer is not None and not isinstance(value, kind):
            return f"{field} is {type(value).__name__} and not {kind.__name__}"
    names = (*getattr(answer, "after", ()), *getattr(answer, "before", ()), *getattr(answer, "notes", ()))
    odd = [name for name in names if not isinstance(name, str)]
    return f"after, before or notes hold {type(odd[0]).__name__} and not str" if odd else ""


def is_kind(answer: object, hook: str) -> bool:
    """Whether a value is of the class that the hook asks for; that class is loaded only once a value is there."""
    return isinstance(answer, getattr(reverie_hookspecs, ANSWERS[hook]))


def wrong(answer: object, slot: str, hook: str, wanted: str) -> str:
    kind = type(answer).__name__
    return f"plugin {slot!r} returned {kind} from {hook}, which takes {wanted}; mend it, or switch it off"
