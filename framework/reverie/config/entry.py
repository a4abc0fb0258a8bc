"""The agents of a configuration: who may be used, and who is skipped, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from attrs import field, frozen

from .document import Tree, twice
from .expansion import expand_sections
from .outline import Outline
from .place import expanded
from .remark import shown
from .value import changed, read

PROMPT_FILE: Final = "--append-system-prompt-file"


@frozen
class AgentEntry:
    """One agent as config.json names it; ``raw`` is its entry, expanded where reverie owns it."""

    id: str
    workspace: Path
    raw: Mapping[str, Any] = field(repr=False)  # it may hold other programs' keys and tokens


class Skipped(NamedTuple):
    """An agent that may not be used: ``agents[<id or number>]``, and why."""

    agent: str
    reason: str

    def __str__(self) -> str:
        return f"{self.agent} is skipped: {self.reason}"


def admit(
    entry: Any, index: int, outline: Outline, home: Path, folder: Path, environ: Mapping[str, str]
) -> AgentEntry | Skipped:
    """One entry of ``agents``; ``folder`` is that of the configuration, which a relative workspace starts from."""
    name = label(entry, index)
    if not isinstance(entry, dict):
        return Skipped(name, f'{shown(entry)} is no agent; write {{"id": "NAME"}}')
    if fault := misnamed(entry.get("id")):
        return Skipped(name, fault)
    owned = {*outline.names("", "agent"), "workspace"}
    raw, missing = expand_sections(entry, owned, environ, "")
    for fault in (*missing, *refusals(raw, entry, outline), *homeless(raw.get("workspace"), environ)):
        return Skipped(name, fault)
    return AgentEntry(raw["id"], workspace_of(raw, home, folder, environ), raw)


def label(entry: Any, index: int) -> str:
    """``agents[alfred]``; an entry without a usable id goes by its number, from 0."""
    return f"agents[{identified(entry) or index}]"


def identified(entry: Any) -> str:
    """The id of an entry, if it can be one, or ""."""
    name = entry.get("id") if isinstance(entry, dict) else None
    return "" if misnamed(name) else str(name)


def misnamed(name: Any) -> str:
    """Why an id cannot be the name of a folder, or ""."""
    if not isinstance(name, str) or not name:
        return "it has no id; give it one, a string"
    unfit = not name.isprintable() or name != name.strip() or "/" in name or "\\" in name
    if unfit or name.startswith((".", "-")) or len(name.encode(errors="replace")) > 128:
        return (
            f"its id {shown(name)} is no name for a folder; it takes at most 128 bytes, "
            "no slash or control character, no dot or dash at the beginning and no space at either end"
        )
    return ""


def refusals(raw: Tree, written: Tree, outline: Outline) -> Iterator[str]:
    """Why the keys that stand in the entry itself forbid the agent: what keeps memories apart must be certain."""
    isolated = False
    for key in (key for keys in outline.keys[""].values() for key in keys if "agent" in key.levels):
        if key.name not in raw:
            continue
        try:
            value = read(key, raw[key.name])
            if changed(key, raw[key.name], value):
                raise ValueError(f"a value it takes as it is, such as {shown(value)}")
        except ValueError as expected:
            yield f"{key.name}: {shown(written[key.name])} is not {expected}; write that, or take the key out"
            continue
        isolated = isolated or (key.name == "isolateMemory" and value)
    if isolated and PROMPT_FILE in flags_of(raw):
        yield (
            f"claude.extraFlags: {PROMPT_FILE} would replace the conversation's memory of an isolated agent; "
            "use --append-system-prompt, or move the text into AGENTS.md"
        )


def flags_of(raw: Tree) -> set[str]:
    """The names of the flags in ``claude.extraFlags``, whether they stand in one string or in several."""
    claude = raw.get("claude")
    flags = claude.get("extraFlags") if isinstance(claude, dict) else None
    texts = flags if isinstance(flags, list) else [flags]
    options = [text for text in texts if isinstance(text, str) and text.startswith("-")]
    return {word.partition("=")[0] for text in options for word in text.split()}


def homeless(workspace: Any, environ: Mapping[str, str]) -> Iterator[str]:
    """Why a workspace is none: no memory is written where nobody named a folder."""
    if workspace is None:
        return
    if not isinstance(workspace, str) or not workspace.strip() or not workspace.isprintable():
        yield f"workspace: {shown(workspace)} is no path; write one, or leave the key out for the default"
    elif str(expanded(workspace, environ)).startswith("~"):
        yield f"workspace: {shown(workspace)} names a user who does not exist; write the whole path"


def workspace_of(raw: Tree, home: Path, folder: Path, environ: Mapping[str, str]) -> Path:
    """The folder an entry names, absolute, or the default one."""
    if raw.get("workspace") is None:
        return home / "agents" / str(raw["id"]) / "workspace"
    return Path(folder, expanded(raw["workspace"], environ))


def doubled(entries: list[Any]) -> list[str]:
    """The ids that several entries bear, sorted."""
    return sorted(twice([(name, entry) for entry in entries if (name := identified(entry))]))
