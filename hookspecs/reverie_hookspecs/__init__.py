"""What a plugin author imports, and nothing else.

Every name is loaded on first use: a hook of Claude Code must feel instant, and most need two or three of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .agent import Agent as Agent
    from .agent import Conversation as Conversation
    from .blocks import (
        DOCUMENTED as DOCUMENTED,
    )
    from .blocks import (
        ArchiveSettings as ArchiveSettings,
    )
    from .blocks import (
        CostSettings as CostSettings,
    )
    from .blocks import (
        DreamSettings as DreamSettings,
    )
    from .blocks import (
        IsolationSettings as IsolationSettings,
    )
    from .blocks import (
        IsolationTools as IsolationTools,
    )
    from .blocks import (
        MemorySettings as MemorySettings,
    )
    from .blocks import (
        ReflectionSettings as ReflectionSettings,
    )
    from .blocks import (
        SessionCompactionSettings as SessionCompactionSettings,
    )
    from .blocks import (
        SharedSettings as SharedSettings,
    )
    from .blocks import (
        SharedStalenessSettings as SharedStalenessSettings,
    )
    from .blocks import (
        SkillLearningSettings as SkillLearningSettings,
    )
    from .blocks import (
        StalenessSettings as StalenessSettings,
    )
    from .capabilities import (
        Applying as Applying,
    )
    from .capabilities import (
        Archive as Archive,
    )
    from .capabilities import (
        Completion as Completion,
    )
    from .capabilities import (
        Indexer as Indexer,
    )
    from .capabilities import (
        Model as Model,
    )
    from .capabilities import (
        ModelRequest as ModelRequest,
    )
    from .capabilities import (
        Policy as Policy,
    )
    from .capabilities import (
        Sessions as Sessions,
    )
    from .capabilities import (
        Vault as Vault,
    )
    from .corpus import Corpus as Corpus
    from .deployment import Deployment as Deployment
    from .dream import (
        SCOPES as SCOPES,
    )
    from .dream import (
        Applied as Applied,
    )
    from .dream import (
        Dream as Dream,
    )
    from .dream import (
        Excerpt as Excerpt,
    )
    from .dream import (
        Mode as Mode,
    )
    from .dream import (
        Move as Move,
    )
    from .dream import (
        Note as Note,
    )
    from .dream import (
        Op as Op,
    )
    from .dream import (
        Outcome as Outcome,
    )
    from .dream import (
        Proposal as Proposal,
    )
    from .dream import (
        Scope as Scope,
    )
    from .dream import (
        SetAside as SetAside,
    )
    from .dream import (
        Size as Size,
    )
    from .dream import (
        Skipped as Skipped,
    )
    from .dream import (
        Stage as Stage,
    )
    from .dream import (
        Usage as Usage,
    )
    from .errors import (
        ConfigError as ConfigError,
    )
    from .errors import (
        NotFound as NotFound,
    )
    from .errors import (
        OrderError as OrderError,
    )
    from .errors import (
        OverLoss as OverLoss,
    )
    from .errors import (
        PluginError as PluginError,
    )
    from .errors import (
        Refused as Refused,
    )
    from .errors import (
        ReverieError as ReverieError,
    )
    from .errors import (
        StaleSnapshot as StaleSnapshot,
    )
    from .errors import (
        TooLarge as TooLarge,
    )
    from .errors import (
        UnknownAgent as UnknownAgent,
    )
    from .errors import (
        Unreadable as Unreadable,
    )
    from .errors import (
        WriteRefused as WriteRefused,
    )
    from .files import (
        ABSENT as ABSENT,
    )
    from .files import (
        Committed as Committed,
    )
    from .files import (
        Decide as Decide,
    )
    from .files import (
        Edit as Edit,
    )
    from .files import (
        Files as Files,
    )
    from .files import (
        Moved as Moved,
    )
    from .files import (
        Run as Run,
    )
    from .files import (
        Snapshot as Snapshot,
    )
    from .index import (
        Chunk as Chunk,
    )
    from .index import (
        Entry as Entry,
    )
    from .index import (
        Hit as Hit,
    )
    from .index import (
        Indexing as Indexing,
    )
    from .index import (
        IndexJob as IndexJob,
    )
    from .index import (
        Provenance as Provenance,
    )
    from .index import (
        Source as Source,
    )
    from .plugin import Plugin as Plugin
    from .section import Section as Section
    from .settings import (
        Block as Block,
    )
    from .settings import (
        Settings as Settings,
    )
    from .settings import (
        clamped as clamped,
    )
    from .settings import (
        decimal as decimal,
    )
    from .settings import (
        flag as flag,
    )
    from .settings import (
        integer as integer,
    )
    from .settings import (
        one_of as one_of,
    )
    from .settings import (
        text as text,
    )
    from .settings import (
        zone as zone,
    )
    from .specs import hookimpl as hookimpl
    from .specs import hookspec as hookspec
    from .tool import Duty as Duty
    from .tool import Request as Request
    from .tool import Route as Route
    from .tool import Tool as Tool

ROOMS: Final = {
    "agent": ("Agent", "Conversation"),
    "blocks": (
        "ArchiveSettings",
        "CostSettings",
        "DOCUMENTED",
        "DreamSettings",
        "IsolationSettings",
        "IsolationTools",
        "MemorySettings",
        "ReflectionSettings",
        "SessionCompactionSettings",
        "SharedSettings",
        "SharedStalenessSettings",
        "SkillLearningSettings",
        "StalenessSettings",
    ),
    "capabilities": (
        "Applying",
        "Archive",
        "Completion",
        "Indexer",
        "Model",
        "ModelRequest",
        "Policy",
        "Sessions",
        "Vault",
    ),
    "corpus": ("Corpus",),
    "deployment": ("Deployment",),
    "dream": (
        "Applied",
        "Dream",
        "Excerpt",
        "Mode",
        "Move",
        "Note",
        "Op",
        "Outcome",
        "Proposal",
        "SCOPES",
        "Scope",
        "SetAside",
        "Size",
        "Skipped",
        "Stage",
        "Usage",
    ),
    "errors": (
        "ConfigError",
        "NotFound",
        "OrderError",
        "OverLoss",
        "PluginError",
        "Refused",
        "ReverieError",
        "StaleSnapshot",
        "TooLarge",
        "UnknownAgent",
        "Unreadable",
        "WriteRefused",
    ),
    "files": ("ABSENT", "Committed", "Decide", "Edit", "Files", "Moved", "Run", "Snapshot"),
    "index": ("Chunk", "Entry", "Hit", "IndexJob", "Indexing", "Provenance", "Source"),
    "plugin": ("Plugin",),
    "section": ("Section",),
    "settings": ("Block", "Settings", "clamped", "decimal", "flag", "integer", "one_of", "text", "zone"),
    "specs": ("hookimpl", "hookspec"),
    "tool": ("Duty", "Request", "Route", "Tool"),
}
"""Module -> the names it holds."""

_HOME: Final = {name: room for room, names in ROOMS.items() for name in names}

__all__ = sorted(_HOME)  # noqa: PLE0605 - one list of names is enough


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
