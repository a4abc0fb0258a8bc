"""Fixtures for the whole suite."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

ROOT = Path(__file__).parent.parent
INPUTS = Path(os.environ.get("REVERIE_INPUTS") or ROOT.parent / "shared" / "inputs")


@pytest.fixture(scope="session")
def inputs() -> Path:
    """Real memory files to try on; they are not part of the project, so tests that need them skip without them."""
    if not INPUTS.is_dir():
        pytest.skip("no real files here: set REVERIE_INPUTS")
    return INPUTS


@pytest.fixture(autouse=True)
def only_ours(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plugins that happen to be installed here are not seen, but by the tests that are about them."""
    from reverie import selection

    found = selection.installed()
    if "contrib" not in request.path.parts:
        ours = {name: points for name, points in found.items() if points[0].value.startswith("reverie_plugins.")}
        monkeypatch.setattr(selection, "installed", lambda: ours)


@pytest.fixture(autouse=True)
def sealed(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of its own for every test: nothing of the person who runs the suite is read or written."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("REVERIE_HOME", str(home / ".claude-gateway"))
    for name in ("GATEWAY_CONFIG", "CLAUDE_CONFIG_DIR", "REVERIE_TRACE_PLUGINS", "REVERIE_DISABLE_PLUGIN_AUTOLOAD",
                 "REVERIE_LOG_LEVEL", "NO_COLOR", "ANTHROPIC_API_KEY"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    yield home
    log = logging.getLogger("reverie")  # the launcher sets it up for its whole process
    log.handlers.clear()
    log.setLevel(logging.NOTSET)
