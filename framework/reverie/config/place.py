"""Where the home and its configuration lie."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from reverie_hookspecs.errors import ConfigError

DEFAULT_HOME: Final = "~/.claude-gateway"


def home(environ: Mapping[str, str]) -> Path:
    """The folder of all agents and vaults, absolute: ``REVERIE_HOME``, else ``~/.claude-gateway``."""
    return expanded(environ.get("REVERIE_HOME") or DEFAULT_HOME, environ).absolute()


def locate(option: str | None, environ: Mapping[str, str], home: Path) -> Path | None:
    """The configuration file: ``--config``, else ``GATEWAY_CONFIG``, else config.json in the home if there is one.

    Raises ConfigError if a named file does not exist.
    """
    named = option if option is not None else environ.get("GATEWAY_CONFIG") or None
    if named is None:
        return home / "config.json" if present(home / "config.json") else None
    file = expanded(named, environ).absolute()
    if named and present(file):
        return file
    source = "--config" if option is not None else "GATEWAY_CONFIG"
    raise ConfigError([f"{source} names {named!r}, which does not exist; name a file that does, or leave it out"])


def present(file: Path) -> bool:
    """Whether something bears the name; what cannot be looked at may be there, and so may a broken link's target."""
    try:
        os.lstat(file)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True
    return True


def expanded(path: str, environ: Mapping[str, str]) -> Path:
    """A path with a leading ``~`` or ``~user`` replaced by that home directory."""
    if (path == "~" or path.startswith("~/")) and environ.get("HOME"):
        return Path(environ["HOME"] + path[1:])
    return Path(os.path.expanduser(path))  # noqa: PTH111  Path.expanduser raises for an unknown user
