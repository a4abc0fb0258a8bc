"""What an agent may call, as a client sees it, and the call itself: the same for every door."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from reverie_hookspecs import IsolationSettings, NotFound, PluginError, Refused, Tool

from .schema import json_schema, structured

if TYPE_CHECKING:
    from reverie_hookspecs import Agent, Conversation

    from .kernel import Kernel

logger = logging.getLogger(__name__)
NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
LONGEST: Final = 2048
"""Bytes of a description that Claude Code shows to the model."""


@frozen
class Offer:
    """A tool with what a client is told of it: ``about`` in at most 2 KB, and the JSON Schema of its arguments."""

    tool: Tool
    about: str
    schema: Mapping[str, Any]

    def call(self, arguments: object) -> Any:
        """The answer in plain JSON values.

        Raises Refused where the arguments do not fit, Refused or NotFound as the tool does, PluginError where the
        answer is nothing JSON can hold, and whatever else the tool raises.
        """
        try:
            made: object = structured(self.tool.params, arguments)
        except Refused as error:
            raise Refused(f"{self.tool.name}: {error}") from None
        return plain_json(self.tool.name, self.tool.call(made))


def offers(deployment: Kernel, agent: Agent, told: set[str] | None = None) -> dict[str, Offer]:
    """What the agent may call, by name; a tool that cannot be described is left out, with a warning.

    ``told`` holds the warnings that were given before, and need not be given again.
    """
    told = set() if told is None else told
    found: dict[str, Offer] = {}
    for name, tool in ({} if withheld(agent) else deployment.tools(agent)).items():
        try:
            found[name] = described(tool)
        except PluginError as error:
            if str(error) not in told:
                logger.warning("tool %r is left out: %s; its plugin has to mend it", name, error)
            told.add(str(error))
    return found


def chosen(found: Mapping[str, Offer], name: str, agent: Agent) -> Offer:
    """The tool of that name; NotFound with the nearest name, or why there is none at all."""
    if name in found:
        return found[name]
    from .config.remark import printable, suggestion

    known = f"; there are {', '.join(found)}" if found else f"; {withheld(agent) or NOTHING}"
    raise NotFound(f'there is no tool "{printable(name)}"{suggestion(name, found) or known}')


NOTHING: Final = "no plugin offers this agent a tool"


def withheld(agent: Agent) -> str:
    """Why an agent may call nothing at all, or nothing: one that keeps conversations apart needs to know which."""
    if agent.settings[IsolationSettings].isolate_memory and agent.conversation is None:
        return (
            "this agent keeps its conversations apart, so without one it is offered no tool; "
            "name it with --conversation CHANNEL:ID"
        )
    return ""


def described(tool: Tool) -> Offer:
    """A tool as it is offered; PluginError where a client could not use it."""
    if not NAME.fullmatch(tool.name):
        raise PluginError("its name may hold up to 64 letters, digits, _ and - of ASCII")
    if not isinstance(tool.about, str) or not tool.about.strip():
        raise PluginError("its about does not say what it does")
    if not callable(tool.call):
        raise PluginError(f"its call is {type(tool.call).__name__} and cannot be called")
    return Offer(tool, cut(whole(tool.about.strip()), LONGEST), plain_json(tool.name, json_schema(tool.params)))


def cut(text: str, most: int) -> str:
    """The text in at most so many bytes of UTF-8, ended at a word and with ``…`` where something is missing.

    >>> cut("one two three", 10)
    'one two…'
    """
    if len(text.encode()) <= most:
        return text
    head = text.encode()[: most - 3].decode("utf-8", "ignore")
    ends_a_word = text[len(head)].isspace() or " " not in head
    return (head if ends_a_word else head.rpartition(" ")[0]).rstrip() + "…"


def plain_json(name: str, answer: object) -> Any:
    """The answer as a reader of JSON gets it; half of a surrogate pair, which UTF-8 cannot hold, becomes ``?``."""
    try:
        return json.loads(whole(json.dumps(answer, ensure_ascii=False, allow_nan=False)))
    except (TypeError, ValueError, RecursionError) as error:
        raise PluginError(
            f"tool {name!r} answered what JSON cannot hold: {error}; its plugin has to mend it"
        ) from error


def whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def told(answer: Any) -> str:
    """An answer as text for a model: a string is itself, the rest JSON without escapes."""
    return whole(answer) if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


# Whose tools


def origin(conversation: str, environ: Mapping[str, str]) -> Conversation | None:
    """The conversation that was named as CHANNEL:ID, else that of the environment, else none.

    Raises Refused for half a name.
    """
    from reverie_hookspecs import Conversation

    channel, _, chat = conversation.partition(":")
    if conversation and not (channel and chat):
        raise Refused(f"{conversation!r} names no conversation; give a channel and a chat id as CHANNEL:ID")
    if not conversation:
        channel, chat = (environ.get(f"GATEWAY_ORIGIN_{name}", "") for name in ("CHANNEL", "CHAT_ID"))
    return Conversation(channel, chat) if channel or chat else None


def meant(deployment: Kernel, name: str, about: Conversation | None) -> Agent:
    """The agent in its conversation; half a one from the environment stops only an agent that keeps them apart."""
    agent = deployment.agent(name)
    if agent.settings[IsolationSettings].isolate_memory or (about is not None and about.channel and about.chat):
        return deployment.agent(name, about)
    return agent
