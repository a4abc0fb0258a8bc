"""Every section reverie owns, in the order of the reference."""

from __future__ import annotations

from reverie_hookspecs.settings import Block

from .archive import ArchiveSettings
from .dreaming import CostSettings, DreamSettings, StalenessSettings
from .isolation import IsolationSettings, IsolationTools
from .memory import MemorySettings
from .session import SessionCompactionSettings, SkillLearningSettings
from .sharing import ReflectionSettings, SharedSettings, SharedStalenessSettings

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
