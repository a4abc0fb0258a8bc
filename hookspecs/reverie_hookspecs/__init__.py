"""What a plugin author imports, and nothing else.

Every name is loaded on first use: a hook of Claude Code must feel instant, and most need two or three of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .agent import Agent as Agent, Conversation as Conversation
    from .blocks.archive import ArchiveSettings as ArchiveSettings, archive_off as archive_off
    from .blocks.documented import DOCUMENTED as DOCUMENTED
    from .blocks.dreaming import (
        CostSettings as CostSettings,
        DreamSettings as DreamSettings,
        StalenessSettings as StalenessSettings,
    )
    from .blocks.isolation import IsolationSettings as IsolationSettings, IsolationTools as IsolationTools
    from .blocks.memory import MemorySettings as MemorySettings
    from .blocks.session import (
        SessionCompactionSettings as SessionCompactionSettings,
        SkillLearningSettings as SkillLearningSettings,
    )
    from .blocks.sharing import (
        ReflectionSettings as ReflectionSettings,
        SharedSettings as SharedSettings,
        SharedStalenessSettings as SharedStalenessSettings,
    )
    from .capabilities import (
        Applying as Applying,
        Archive as Archive,
        Indexer as Indexer,
        Model as Model,
        Policy as Policy,
        Sessions as Sessions,
        Vault as Vault,
    )
    from .corpus import Corpus as Corpus
    from .deployment import Deployment as Deployment
    from .dream import (
        SCOPES as SCOPES,
        Applied as Applied,
        Dream as Dream,
        Excerpt as Excerpt,
        Mode as Mode,
        Move as Move,
        Note as Note,
        Op as Op,
        Outcome as Outcome,
        Proposal as Proposal,
        Scope as Scope,
        SetAside as SetAside,
        Size as Size,
        Skipped as Skipped,
        Stage as Stage,
    )
    from .errors import (
        ConfigError as ConfigError,
        NotFound as NotFound,
        OrderError as OrderError,
        OverLoss as OverLoss,
        PluginError as PluginError,
        Refused as Refused,
        ReverieError as ReverieError,
        RunKilled as RunKilled,
        StaleSnapshot as StaleSnapshot,
        TooLarge as TooLarge,
        UnknownAgent as UnknownAgent,
        Unreadable as Unreadable,
        WriteRefused as WriteRefused,
    )
    from .files import (
        ABSENT as ABSENT,
        Committed as Committed,
        Decide as Decide,
        Edit as Edit,
        Files as Files,
        Moved as Moved,
        Run as Run,
        Snapshot as Snapshot,
    )
    from .index import (
        Chunk as Chunk,
        Entry as Entry,
        Hit as Hit,
        Indexing as Indexing,
        IndexJob as IndexJob,
        Lines as Lines,
        Provenance as Provenance,
        Source as Source,
    )
    from .model import Completion as Completion, ModelRequest as ModelRequest, Usage as Usage
    from .plugin import Plugin as Plugin
    from .section import Section as Section
    from .settings import (
        Block as Block,
        Settings as Settings,
        clamped as clamped,
        decimal as decimal,
        flag as flag,
        integer as integer,
        one_of as one_of,
        text as text,
        zone as zone,
    )
    from .specs import hookimpl as hookimpl, hookspec as hookspec
    from .tool import Duty as Duty, Request as Request, Route as Route, Tool as Tool

ROOMS: Final = {
    "agent": (
        "Agent",
        "Conversation",
    ),
    "blocks.archive": (
        "ArchiveSettings",
        "archive_off",
    ),
    "blocks.documented": ("DOCUMENTED",),
    "blocks.dreaming": (
        "CostSettings",
        "DreamSettings",
        "StalenessSettings",
    ),
    "blocks.isolation": (
        "IsolationSettings",
        "IsolationTools",
    ),
    "blocks.memory": ("MemorySettings",),
    "blocks.session": (
        "SessionCompactionSettings",
        "SkillLearningSettings",
    ),
    "blocks.sharing": (
        "ReflectionSettings",
        "SharedSettings",
        "SharedStalenessSettings",
    ),
    "capabilities": (
        "Applying",
        "Archive",
        "Indexer",
        "Model",
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
    ),
    "errors": (
        "ConfigError",
        "NotFound",
        "OrderError",
        "OverLoss",
        "PluginError",
        "Refused",
        "ReverieError",
        "RunKilled",
        "StaleSnapshot",
        "TooLarge",
        "UnknownAgent",
        "Unreadable",
        "WriteRefused",
    ),
    "files": (
        "ABSENT",
        "Committed",
        "Decide",
        "Edit",
        "Files",
        "Moved",
        "Run",
        "Snapshot",
    ),
    "index": (
        "Chunk",
        "Entry",
        "Hit",
        "IndexJob",
        "Indexing",
        "Lines",
        "Provenance",
        "Source",
    ),
    "model": (
        "Completion",
        "ModelRequest",
        "Usage",
    ),
    "plugin": ("Plugin",),
    "section": ("Section",),
    "settings": (
        "Block",
        "Settings",
        "clamped",
        "decimal",
        "flag",
        "integer",
        "one_of",
        "text",
        "zone",
    ),
    "specs": (
        "hookimpl",
        "hookspec",
    ),
    "tool": (
        "Duty",
        "Request",
        "Route",
        "Tool",
    ),
}
"""Module -> the names it holds."""

_HOME: Final = {name: room for room, names in ROOMS.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
