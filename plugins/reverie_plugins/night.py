"""What is true of an agent's nights, for whoever tells it so."""

from __future__ import annotations

from reverie_hookspecs import ArchiveSettings, DreamSettings, IsolationSettings, Settings


def moves_out(settings: Settings) -> bool:
    """Whether a night moves finished entries out of MEMORY.md."""
    dream, isolation = settings[DreamSettings], settings[IsolationSettings]
    works = dream.enabled and dream.mode == "auto" and dream.max_changes_per_run > 0
    return works and settings[ArchiveSettings].enabled and not (isolation.disable_archive or isolation.isolate_memory)
