"""For tests of plugins: agents made of a few files, and the contracts that a plugin of a slot must keep.

A contract is a class of pytest tests; subclass it and give it the plugin:

    class TestMyApplier(ApplyingContract):
        def applying(self) -> Applying:
            return MyApplier(archive=None)
"""

from __future__ import annotations

from .applying import ApplyingContract as ApplyingContract
from .archive import ArchiveContract as ArchiveContract
from .world import agent_of as agent_of, dream_of as dream_of, kernel_of as kernel_of
