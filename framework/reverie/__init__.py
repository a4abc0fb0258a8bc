"""Long-term memory for always-on Claude Code agents: the kernel, and the doors to it."""

from typing import Final

__version__: Final = "0.1.0"
