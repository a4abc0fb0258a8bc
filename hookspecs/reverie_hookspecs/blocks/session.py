"""Sessions: their compaction, and the skills learnt from them."""

from __future__ import annotations

from attrs import frozen

from reverie_hookspecs.settings import Block, clamped, flag, integer, one_of, text, zone

from .model import REVIEW_MODEL, model_name


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
