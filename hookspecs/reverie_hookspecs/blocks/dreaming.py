"""The nightly dream."""

from __future__ import annotations

from attrs import frozen

from reverie_hookspecs.settings import Block, clamped, decimal, flag, integer, one_of, text, zone

from .model import REVIEW_MODEL, model_name


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
