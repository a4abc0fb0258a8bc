"""What is true of an agent's nights, for whoever tells it so."""

from __future__ import annotations

from reverie_hookspecs import ArchiveSettings, DreamSettings, IsolationSettings, Settings


def archive_off(settings: Settings) -> str:
    """Why nothing may leave the prompt, since it could not be found again; or nothing."""
    if settings[IsolationSettings].disable_archive:
        return "disableArchive is true"
    return "" if settings[ArchiveSettings].enabled else "knowledge.archive.enabled is false"


def moves_out(settings: Settings) -> bool:
    """Whether a night moves finished entries out of MEMORY.md."""
    dream = settings[DreamSettings]
    works = dream.enabled and dream.mode == "auto" and dream.max_changes_per_run > 0
    return works and not archive_off(settings) and not settings[IsolationSettings].isolate_memory
