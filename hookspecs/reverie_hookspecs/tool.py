"""What a client may call, and what runs beside the agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from attrs import field, frozen

if TYPE_CHECKING:
    from .deployment import Deployment


@frozen
class Tool:
    """One tool an agent may call.

    ``params`` is an attrs class, from which the JSON Schema is derived; ``call`` takes an instance of it and returns
    a JSON-able value, or raises Refused or NotFound with a sentence meant for the model.
    """

    name: str
    about: str
    params: type
    call: Callable[[Any], object] = field(repr=False)
    reads_only: bool = True
    destructive: bool = False
    open_world: bool = False
    conversation_safe: bool = False


@frozen
class Request:
    """One HTTP request that has been authenticated."""

    deployment: Deployment = field(repr=False)
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Any = None


@frozen
class Route:
    """One HTTP route; ``handle`` takes the plugin and the request."""

    method: Literal["GET", "PUT", "POST", "DELETE"]
    pattern: str
    handle: Callable[[Any, Request], object] = field(repr=False)
    access: Literal["read", "write", "admin"] = "admin"
    crosses_conversations: bool = True


@frozen
class Duty:
    """Work with a clock of its own, done under ``reverie serve``.

    ``next`` is pure: when is it due next, or None for work that lasts as long as the service.
    ``once_per`` is the key of the singleton: an agent's id, a vault's root, or ``service``.
    """

    name: str
    once_per: str
    next: Callable[[Any, Deployment, datetime], datetime | None] = field(repr=False)
    run: Callable[[Any, Deployment], object] = field(repr=False)
