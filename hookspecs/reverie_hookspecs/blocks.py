"""The documented sections of config.json, one class each; a plugin names those it reads in ``Plugin.blocks``."""

from __future__ import annotations

import re
from typing import Any

from attrs import field, frozen

from .settings import READER, Block, clamped, decimal, flag, integer, one_of, text, zone

REVIEW_MODEL = "claude-haiku-4-5-20251001"


def memory_folder(value: str) -> str:
    """A folder for episodic notes: inside memory/, outside its archive and pinned folders."""
    parts = [part for part in value.replace("\\", "/").split("/") if part not in ("", ".")]
    hidden = any(part.startswith(".") or not part.isprintable() or len(part.encode()) > 255 for part in parts)
    kept_apart = [part.casefold() for part in parts[1:2]] in (["archive"], ["pinned"])
    if value.startswith(("/", "\\", "~")) or hidden or parts[:1] != ["memory"] or kept_apart:
        raise ValueError("a folder inside memory/ and outside memory/archive and memory/pinned")
    return "/".join(parts)


def project_name(value: str) -> str:
    """One safe path segment."""
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", value) or not value.strip("."):
        raise ValueError("one path segment of 1 to 64 letters, digits, '.', '_' or '-'")
    return value


def tokenizer(value: str) -> str:
    """One of the FTS5 tokenizers that SQLite ships."""
    if value not in ("unicode61", "trigram", "porter", "ascii"):
        raise ValueError("one of unicode61, trigram, porter, ascii")
    return value


def model_name(value: str) -> str:
    """The name of a model: one word."""
    if not value or not value.isprintable() or " " in value:
        raise ValueError("the name of a model")
    return value


def vault_folder(value: str) -> str:
    """A folder that is the same wherever reverie is started, or "" for the default; ``~`` stands as it is."""
    if value and not (value.startswith(("/", "~/")) and value.isprintable()):
        raise ValueError("an absolute path, or one that begins with ~/")
    return value


def tool_names(value: Any) -> tuple[str, ...]:
    """A list of names."""
    if not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
        raise ValueError("a list of names of tools")
    return tuple(value)


@frozen
class MemorySettings(Block):
    """How large the self-authored files may grow, and where a record of events goes."""

    path = "memory"

    memory_budget_chars: int = integer(8000)
    """Soft budget of MEMORY.md in characters; 0 switches it off."""
    user_budget_chars: int = integer(3000)
    """Soft budget of USER.md in characters; 0 switches it off."""
    over_budget: str = one_of("warn", "error", otherwise="warn")
    """How loud the banner of a file over its budget is."""
    write_routing: bool = flag(False)
    """Teach the agent the two tiers, durable and episodic, and let the night move task-log out."""
    episodic_archive_dir: str = text("memory", memory_folder)
    """Folder of episodic notes, inside memory/."""


@frozen
class DreamSettings(Block):
    """When the nightly dream runs and how far it may go."""

    path = "dreaming"

    enabled: bool = flag(True)
    """Master switch of the nightly dream."""
    mode: str = one_of("auto", otherwise="propose")
    """``auto`` applies, ``propose`` only writes down what it would do."""
    dream_hour: int = integer(3, 0, 23)
    """Hour of the slot, 0 to 23, in the dream's zone."""
    dream_minute: int = integer(0, 0, 59)
    """Minute of the slot."""
    dream_timezone: str = zone()
    """Zone of the slot and of an agent's local date."""
    quiet_minutes: int = integer(30)
    """A scheduled dream waits until the newest interactive message is this old."""
    lookback_days: int = integer(3)
    """How far back sessions are read."""
    max_changes_per_run: int = integer(3)
    """Cap on the ops of a run; 0 makes the whole run a no-op."""
    review_model: str = text(REVIEW_MODEL, model_name)
    """Model of the reviewer."""
    promotion_threshold: float = decimal(0.6, 0.0, 1.0)
    """A durable add scored below it is set aside; 0 switches the test off."""
    min_recall_count: int = integer(2)
    """A durable add stated in fewer messages is set aside; 0 switches the test off."""
    auto_route_out: bool = flag(True)
    """Move task-log out of an over-budget MEMORY.md every night."""
    stagger_window_minutes: int = clamped(30, 0, 55)
    """Spread the agents' slots over this many minutes; 0 is off."""


@frozen
class CostSettings(Block):
    """What a night may cost over all agents."""

    path = "dreaming"
    levels = ("gateway",)

    max_cost_usd: float = decimal(1.0)
    """Ceiling of the model cost of 24 hours in US dollars; 0 is no ceiling."""


@frozen
class StalenessSettings(Block):
    """When an archive entry counts as stale."""

    path = "dreaming.staleness"

    enabled: bool = flag(True)
    """Switch of the staleness stage."""
    stale_ttl_days: int = integer(90)
    """Days without a retrieval after which an entry may be invalidated."""
    keep_importance: int = integer(7, 0, 10)
    """Entries of this importance or more never age out."""
    min_retrieval_keep: int = integer(1)
    """Entries retrieved this often never age out."""
    supersession: bool = flag(True)
    """Whether ``supersedes #N`` marks older entries."""
    record_retrievals: bool = flag(True)
    """Whether searches are noted, so that what is used stays."""
    max_invalidations_per_run: int = integer(50)
    """Cap on what one run may invalidate; 0 invalidates nothing."""


@frozen
class ArchiveSettings(Block):
    """How memory is cut up and indexed."""

    path = "knowledge.archive"

    enabled: bool = flag(True)
    """Switch of the archive; off means no database, no tools, nothing moved out."""
    tokenizer: str = text("unicode61", tokenizer)
    """FTS5 tokenizer: unicode61, trigram, porter or ascii."""
    chunk_tokens: int = integer(400, 16)
    """Target size of a chunk in tokens."""
    chunk_overlap: int = integer(80)
    """Overlap of neighbouring chunks in tokens, always below ``chunkTokens``."""

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "chunk_overlap", min(self.chunk_overlap, self.chunk_tokens - 1))


@frozen
class SharedSettings(Block):
    """Which vault an agent shares, and how its facts get there."""

    path = "knowledge.shared"

    enabled: bool = flag(True)
    """Switch of the shared vault for the agent."""
    project: str = text("global", project_name)
    """Agents of one project share one vault."""
    root: str = text("", vault_folder)
    """Folder of the vaults, absolute or from ``~/``; empty is ``shared/kb`` in the home."""
    mode: str = one_of("auto", otherwise="propose")
    """``auto`` promotes durable facts, ``propose`` only writes down what it would promote."""
    graph: bool = flag(False)
    """Write reports on links, contradictions and age after each change."""


@frozen
class SharedStalenessSettings(StalenessSettings):
    """When a whole note of the vault counts as stale."""

    path = "knowledge.shared.staleness"
    levels = ("gateway",)

    record_retrievals: bool = flag(True, levels=("agent", "gateway"))
    """Whether the agent's searches of the vault are noted; alone of these, each agent may say."""


@frozen
class ReflectionSettings(Block):
    """When the vault is looked over."""

    path = "knowledge.reflection"
    levels = ("gateway",)

    enabled: bool = flag(True)
    """Switch of reflection."""
    day_of_week: int = integer(0, 0, 6)
    """Day of the weekly consolidation, 0 is Sunday."""
    hour: int = integer(4, 0, 23)
    """Hour of the daily fire."""
    minute: int = integer(0, 0, 59)
    """Minute of the daily fire."""
    timezone: str = zone()
    """Zone of the fire."""
    max_clusters_per_run: int = integer(5)
    """Cap on the clusters one consolidation may look at."""
    review_model: str = text(REVIEW_MODEL, model_name)
    """Model of the consolidation."""


@frozen
class SessionCompactionSettings(Block):
    """When long sessions are compacted."""

    path = "sessionCompaction"
    refresh = "start"

    enabled: bool = flag(False)
    """Switch of nightly session compaction."""
    threshold_percent: int = clamped(50, 1, 99)
    """A session qualifies above this share of its model's window."""
    quiet_minutes: int = clamped(60, 1, 10080)
    """A session must have been quiet this long."""
    max_sessions_per_run: int = clamped(5, 1, 100)
    """Cap on the attempts of one agent's night."""


@frozen
class SkillLearningSettings(Block):
    """How skills are learnt from the agent's own work."""

    path = "skillLearning"
    refresh = "idle"

    enabled: bool = flag(True)
    """Switch of reviewer, writer and curator."""
    mode: str = one_of("auto", otherwise="propose")
    """``auto`` writes skills, ``propose`` queues them for approval."""
    min_tool_calls: int = integer(5)
    """Tool calls of a turn that make it worth a review."""
    review_model: str = text(REVIEW_MODEL, model_name)
    """Model of the review."""
    max_auto_skills: int = integer(20)
    """Cap on unpinned learned skills."""
    max_age_days: int = integer(30)
    """Little-used learned skills older than this are archived."""
    min_uses_to_keep: int = integer(2)
    """Uses that keep a learned skill."""
    max_reviews_per_day: int = integer(20)
    """Cap on reviews of one day."""
    prune_hour: int = integer(3, 0, 23)
    """Hour of the daily curator."""
    prune_timezone: str = zone()
    """Zone of the curator's hour."""
    notify: bool = flag(True)
    """Tell the session a skill came from."""


@frozen
class IsolationSettings(Block):
    """The switch of isolated memory; it fails closed, so an agent with a value of another type is skipped."""

    path = ""
    levels = ("agent",)
    refresh = "idle"

    isolate_memory: bool = flag(False)
    """Keep the memory of each conversation apart."""
    disable_archive: bool = flag(False)
    """Switch the archive off for this agent, and everything that points at it."""


@frozen
class IsolationTools(Block):
    """What an isolated agent may use beyond the tools that ship with reverie."""

    path = "isolation"
    levels = ("agent",)

    tools: tuple[str, ...] = field(default=(), metadata={READER: tool_names})
    """Tools of other authors, by name; each must also declare itself conversation-safe."""


DOCUMENTED: tuple[type[Block], ...] = (
    MemorySettings,
    DreamSettings,
    CostSettings,
    StalenessSettings,
    ArchiveSettings,
    SharedSettings,
    SharedStalenessSettings,
    ReflectionSettings,
    SessionCompactionSettings,
    SkillLearningSettings,
    IsolationSettings,
    IsolationTools,
)
"""Every section reverie owns, in the order of the reference."""
