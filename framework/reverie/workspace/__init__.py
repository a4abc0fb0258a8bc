"""The files of a workspace or a vault: reading, and the one way to write."""

from __future__ import annotations

from .folder import Folder as Folder
