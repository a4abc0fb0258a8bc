"""What is true of an agent's nights, for whoever tells it so."""

from __future__ import annotations

from reverie_hookspecs import Archive, DreamSettings, IsolationSettings, Settings, archive_off


def unsearchable(settings: Settings, archive: Archive | None) -> str:
    """Why nothing may leave the prompt, since it could not be found again; or nothing."""
    return archive_off(settings) or ("" if archive else "no active plugin provides one")


def moves_out(settings: Settings, archive: Archive | None) -> bool:
    """Whether a night moves finished entries out of MEMORY.md."""
    dream = settings[DreamSettings]
    works = dream.enabled and dream.mode == "auto" and dream.max_changes_per_run > 0
    return works and not unsearchable(settings, archive) and not settings[IsolationSettings].isolate_memory
