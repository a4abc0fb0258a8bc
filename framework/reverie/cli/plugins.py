"""reverie plugins"""

from __future__ import annotations

import click

from .deployment import kernel
from .terminal import emit, table


@click.command("plugins")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON, with hooks, settings and needs.")
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Show every slot, which plugin sits in it, and why one does not.

    config.json selects: "plugins": {"SLOT": "PLUGIN"} puts another one in, {"SLOT": false} leaves it empty.
    """
    from reverie.building import described

    rows = [described(row) for row in kernel(ctx).rows]
    if as_json:
        emit(rows)
        return
    headings = ("slot", "plugin", "state", "from", "hooks", "reason")
    table(headings, [[joined(row[heading]) for heading in headings] for row in rows])


def joined(cell: object) -> str:
    return ", ".join(cell) if isinstance(cell, list) else str(cell)
