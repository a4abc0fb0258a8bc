"""Which model is asked where none is named."""

from __future__ import annotations

REVIEW_MODEL = "claude-haiku-4-5-20251001"


def model_name(value: str) -> str:
    """The name of a model: one word."""
    if not value or not value.isprintable() or " " in value:
        raise ValueError("the name of a model")
    return value
