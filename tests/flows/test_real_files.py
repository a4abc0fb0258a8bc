"""Real memory files, each in a workspace of its own: a night on every one, and its undo."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .launcher import as_json, furnish, reverie, tree

FOLDER = Path(os.environ.get("REVERIE_INPUTS") or Path(__file__).parents[3] / "shared" / "inputs")
REAL = sorted([*FOLDER.glob("memory/*.md"), *FOLDER.glob("derived/*.md")])
ARCHIVE = "memory/archive/completed.md"


@pytest.mark.skipif(not REAL, reason="no real files here: set REVERIE_INPUTS")
@pytest.mark.parametrize("file", REAL, ids=lambda file: file.name)
def test_a_night_on_a_real_memory_file(file: Path, tmp_path: Path) -> None:
    root = furnish(tmp_path / "w")
    original = file.read_bytes()
    (root / "MEMORY.md").write_bytes(original)
    reverie("compose", root, "--stdout")
    before = tree(root)

    shown = as_json("dream", "run", root, "--dry-run")
    assert tree(root) == before
    done = as_json("dream", "run", root)
    after = tree(root)
    assert {f["path"]: f["after"] for f in shown["files"]} == {f["path"]: f["after"] for f in done["files"]}
    assert len(after["MEMORY.md"].decode("utf-8", "surrogateescape")) <= len(
        original.decode("utf-8", "surrogateescape")
    )
    archive = after.get(ARCHIVE, b"").decode("utf-8", "surrogateescape")
    for move in done["moved"]:
        assert move["text"].rstrip("\r\n") in archive
        assert move["text"].rstrip("\r\n") in original.decode("utf-8", "surrogateescape")
    reverie("dream", "show", root, code=0 if done["moved"] else 1)

    backups = tree(root / ".dreaming" / "backups") if (root / ".dreaming" / "backups").exists() else {}
    reverie("dream", "run", root)
    assert tree(root) == after
    assert backups == (tree(root / ".dreaming" / "backups") if (root / ".dreaming" / "backups").exists() else {})

    reverie("dream", "undo", root, code=0 if done["moved"] else 1)
    assert tree(root) == before
