"""The first-party plugins, one module each, found through entry points like any other."""

from __future__ import annotations

from importlib.resources import files
from string import Template


def template(name: str) -> Template:
    """A text template from this package's templates folder, without its final newline."""
    return Template((files(__name__) / "templates" / name).read_text("utf-8").rstrip("\n"))
