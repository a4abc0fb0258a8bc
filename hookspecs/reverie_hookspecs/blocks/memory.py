"""How large the memory files may grow."""

from __future__ import annotations

from attrs import frozen

from reverie_hookspecs.settings import Block, flag, integer, one_of, text


def memory_folder(value: str) -> str:
    """A folder for episodic notes: inside memory/, outside its archive and pinned folders."""
    parts = [part for part in value.replace("\\", "/").split("/") if part not in ("", ".")]
    hidden = any(part.startswith(".") or not part.isprintable() or len(part.encode()) > 255 for part in parts)
    kept_apart = [part.casefold() for part in parts[1:2]] in (["archive"], ["pinned"])
    if value.startswith(("/", "\\", "~")) or hidden or parts[:1] != ["memory"] or kept_apart:
        raise ValueError("a folder inside memory/ and outside memory/archive and memory/pinned")
    return "/".join(parts)


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

    @property
    def budgets(self) -> dict[str, int]:
        """Memory file -> its budget in characters, 0 where it is off."""
        return {"MEMORY.md": self.memory_budget_chars, "USER.md": self.user_budget_chars}
