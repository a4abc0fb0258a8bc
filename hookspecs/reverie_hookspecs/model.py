"""A question to a language model, its answer, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen


@frozen
class Usage:
    """Tokens and cost of model calls; cost in US dollars."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost + other.cost,
        )


@frozen
class ModelRequest:
    """One question to a model without tools; ``schema`` asks for JSON of that shape."""

    model: str
    system: str
    prompt: str
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 4096
    timeout: float = 120.0


@frozen
class Completion:
    """A model's answer: ``data`` where a schema was asked for and kept, ``text`` in any case."""

    text: str
    data: Any = None
    usage: Usage = Usage()
