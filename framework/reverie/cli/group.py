"""A group that runs one of its commands where none is named."""

from __future__ import annotations

from typing import ClassVar

import click


class DefaultGroup(click.Group):
    """A group whose first word, if it is no subcommand, belongs to the default one.

    So ``reverie dream PATH`` is ``reverie dream run PATH``; an agent called like a subcommand needs the long form.
    """

    default: ClassVar[str] = "run"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in {*self.commands, *ctx.help_option_names}:
            args = [self.default, *args]
        return super().parse_args(ctx, args)
