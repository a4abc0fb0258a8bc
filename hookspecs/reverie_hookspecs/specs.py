"""The five hooks. Each implementation takes one value and returns one value, or None to stay silent.

A plugin with several sections, stages or tools writes one method for each and names the hook with
``@hookimpl(specname=...)``, so that every wrapper sees one flat list. Hooks declare, the kernel acts: nothing is
read for writing, opened or started until the kernel runs what came back. A wrapper is marked
``@hookimpl(wrapper=True)``, receives the flat list from its ``yield`` and returns a flat list; the kernel puts it in
order afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pluggy import HookimplMarker, HookspecMarker

if TYPE_CHECKING:
    from .agent import Agent
    from .corpus import Corpus
    from .dream import Dream, Proposal, Stage
    from .index import IndexJob
    from .section import Section
    from .tool import Tool

hookspec = HookspecMarker("reverie")
hookimpl = HookimplMarker("reverie")


@hookspec
def compose_section(agent: Agent) -> Section | None:
    """Offer one section of the agent's CLAUDE.md.

    Called when: a CLAUDE.md is composed: at the start of a session, after a change of a file, by the command.

    Return: a Section, or None where there is nothing to say. Its body is memory, not markup: what would forge a
    section, import a file or hide text is made harmless by the kernel.

    Order: ``after`` and ``before`` of the Section name others: memory-rule, agents, identity, soul, user, skills,
    retrieval, memory, heartbeat, and strangers' by their own names.

    Example:
        >>> from reverie_hookspecs import Section
        >>> Section("weather", "Rain until noon.", after=("user",), before=("skills",)).heading
        'WEATHER'
    """


@hookspec
def on_dream(agent: Agent) -> Stage | None:
    """Offer one stage of the agent's night.

    Called when: a run is planned. Decide from settings alone; look at files in ``run``, for an earlier stage may
    change them.

    Return: a Stage, or None where the settings leave it nothing to do.

    Order: ``after`` and ``before`` of the Stage name others: gather, index, compactor, staleness, route-out, review,
    select, apply, verify, promote, audit. Among stages that say nothing of each other the scope decides, then the
    order of the plugins' names.

    Example:
        >>> from reverie_hookspecs import Stage
        >>> Stage("weather", lambda dream: dream.note("weather", "rain"), after=("compactor",), writes=False).scope
        'sweep'
    """


@hookspec
def select_ops(dream: Dream) -> Proposal | None:
    """Propose changes to the memory files, having seen what the sweeps did.

    Called when: the stage ``select`` runs, after the sweeps. It is the one hook that may itself ask a Model.

    Return: a Proposal, or None. A failure is a value (``Proposal.failure``): one that raises takes everybody's
    proposals with it and makes the run an ``error``.

    Order: a wrapper sees all proposals and returns those to apply; ops it sets aside keep their reason. The first-party
    one sets an add aside whose ``score`` or ``recall_count`` is below what the settings ask for, as the defaults of
    Op are.

    Example:
        >>> from reverie_hookspecs import Op, Proposal
        >>> tea = Op("add", "MEMORY.md", "- likes tea", score=0.9, recall_count=2)
        >>> Proposal((tea,), source="weather").failure
        ''
    """


@hookspec
def on_index(corpus: Corpus) -> IndexJob | None:
    """Offer one job to run over a corpus's changed sources.

    Called when: a corpus is indexed: at the start of a session, in a run, after a write, by the command.

    Return: an IndexJob, or None.

    Order: the archive's own job is called ``index``. One ``before`` it may add sources, which are untrusted; one
    ``after`` it is told of each source that changed or vanished.

    Example:
        >>> from reverie_hookspecs import IndexJob
        >>> IndexJob("count", lambda indexing: indexing, after=("index",)).name
        'count'
    """


@hookspec
def tool_registry(agent: Agent) -> Tool | None:
    """Offer one tool to the agent.

    Called when: a client asks what it may call: the MCP server, ``reverie tools``, ``reverie call``.

    Return: a Tool, or None. Its parameters are an attrs class; nothing but declared tools is ever offered.

    Order: tools are offered by name.

    Example:
        >>> from attrs import frozen
        >>> from reverie_hookspecs import Tool
        >>> @frozen
        ... class City:
        ...     name: str
        >>> Tool("weather", "The weather of a city.", City, lambda city: "rain").reads_only
        True
    """
