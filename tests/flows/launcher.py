"""Run the launcher as a person would, in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from reverie.cli import main


def reverie(*words: object, code: int = 0) -> Result:
    """The result of a command; the exit code is asserted, and that nothing unexplained was raised."""
    result = CliRunner().invoke(main, [str(word) for word in words], prog_name="reverie")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, f"{words} exited {result.exit_code}, not {code}:\n{result.output}"
    assert "Traceback" not in result.output
    return result


def as_json(*words: object, code: int = 0) -> Any:
    """What a command prints with --json."""
    return json.loads(reverie(*words, "--json", code=code).stdout)


def furnish(root: Path, **files: str) -> Path:
    """A workspace with these files; ``MEMORY`` is MEMORY.md, and AGENTS.md is always there."""
    root.mkdir(parents=True, exist_ok=True)
    for name, text in {"AGENTS": "Be kind.\n", **files}.items():
        path = root / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return root


def tree(root: Path, *, records: bool = False) -> dict[str, bytes]:
    """Every file below a folder, by path; without records, only what is memory or derived from it."""
    found = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}
    return {
        name: path.read_bytes()
        for name, path in sorted(found.items())
        if records or not name.startswith((".dreaming/", ".reverie/"))
    }
