"""The click door: a group that imports a command only when it is called."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any, Final

import click

from reverie import __version__

COMMANDS: Final = {
    "init": ("workspace", "Make a folder a workspace; nothing that is there is overwritten."),
    "doctor": ("doctor", "Check this machine and every workspace with a real round trip."),
    "status": ("status", "Show what each agent's memory is doing."),
    "demo": ("demo", "Show a night on sample data, in a temporary folder."),
    "compose": ("compose", "Compose an agent's CLAUDE.md from its workspace."),
    "dream": ("dream", "Consolidate memory now; see, and take back, what a run did."),
    "search": ("search", "Find passages in an agent's memory."),
    "index": ("index", "Bring the index of an agent's memory up to date."),
    "tools": ("tools", "List the tools an agent may call."),
    "call": ("call", "Call one tool, and print its answer."),
    "mcp": ("mcp", "Serve an agent's tools to an MCP client, over standard input and output."),
    "plugins": ("plugins", "Show which plugin sits in which slot."),
    "config": ("config", "Show or check the configuration."),
}
"""Command -> the module of this package that holds it, and its line in the help."""

MAP: Final = """\
reverie keeps the memory of always-on Claude Code agents small and safe.

  reverie demo                       see a night on sample data, nothing of yours is touched
  reverie init PATH                  make a folder a workspace
  reverie compose PATH --stdout      what a session reads when it starts
  reverie dream PATH --dry-run       what a night would change
  reverie dream PATH                 do it; then `reverie dream show PATH`, `reverie dream undo PATH`
  reverie search WORDS --agent PATH  find passages in notes and archives
  reverie index PATH                 bring their index up to date
  reverie status                     what every agent's memory is doing
  reverie tools --agent PATH         what an agent may call
  reverie call TOOL JSON             call it, as the agent would
  reverie mcp --workspace PATH       the same for an MCP client, which starts it
  reverie doctor                     whether this machine is ready
  reverie plugins                    which plugin does what
  reverie config show                every setting, and where it comes from

AGENT is an id of your config.json, PATH a folder with AGENTS.md or MEMORY.md: it needs no configuration.
`reverie COMMAND --help` tells more."""


class Launcher(click.Group):
    """The root command: its own subcommands from a table, strangers' from their plugins."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            command: click.Command = import_module(f"{__name__}.{COMMANDS[cmd_name][0]}").command
            return command
        from .deployment import stranger

        return stranger(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            from .deployment import unknown

            raise click.UsageError(unknown(ctx, args[0], COMMANDS), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])

    def main(self, *args: Any, **kwargs: Any) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a lone surrogate in somebody's text must not end in a traceback
                stream.reconfigure(errors="backslashreplace")
        return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        from .door import translated

        with translated(ctx):
            return super().invoke(ctx)


@click.group(cls=Launcher, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--config", "config", metavar="FILE", help="Configuration to use instead of config.json in the home.")
@click.option("--quiet", is_flag=True, help="Print results and errors only.")
@click.option("--verbose", is_flag=True, help="Log more, and show tracebacks.")
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def main(ctx: click.Context, config: str | None, quiet: bool, verbose: bool) -> None:
    """Long-term memory for always-on Claude Code agents."""
    if os.environ.get("NO_COLOR"):
        ctx.color = False
    if ctx.invoked_subcommand is None:
        click.echo(MAP)
