"""What a contract says when it is broken."""

from __future__ import annotations


def keeps(promise: str, kept: object, told: str) -> None:
    """Fail with the promise that was broken, unless it was kept."""
    if not kept:
        raise AssertionError(f"broken promise: {promise}: {told}")
