"""The shared vault and its reflection."""

from __future__ import annotations

import re

from attrs import frozen

from reverie_hookspecs.settings import Block, flag, integer, one_of, text, zone

from .dreaming import StalenessSettings
from .model import REVIEW_MODEL, model_name


def project_name(value: str) -> str:
    """One safe path segment."""
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", value) or not value.strip("."):
        raise ValueError("one path segment of 1 to 64 letters, digits, '.', '_' or '-'")
    return value


def vault_folder(value: str) -> str:
    """A folder that is the same wherever reverie is started, or "" for the default; ``~`` stands as it is."""
    if value and not (value.startswith(("/", "~/")) and value.isprintable()):
        raise ValueError("an absolute path, or one that begins with ~/")
    return value


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
