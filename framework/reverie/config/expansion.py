"""``${NAME}`` in the sections that reverie owns, replaced from the environment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from .document import Tree, joined

NAME: Final = r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}"


def expand(node: Any, environ: Mapping[str, str], path: str, missing: list[str]) -> Any:
    """The value with each ``${NAME}`` replaced; a variable that is not set is left and told in ``missing``.

    What holds none is returned as it is, not copied.
    """
    if isinstance(node, str):
        return _filled(node, environ, path, missing) if "${" in node else node
    if isinstance(node, dict):
        filled = {name: expand(inner, environ, joined(path, name), missing) for name, inner in node.items()}
        return filled if any(filled[name] is not node[name] for name in node) else node
    if isinstance(node, list):
        return [expand(inner, environ, f"{path}[{index}]", missing) for index, inner in enumerate(node)]
    return node


def expand_sections(tree: Tree, names: Iterable[str], environ: Mapping[str, str], path: str) -> tuple[Tree, list[str]]:
    """A tree with the named sections expanded and every other as it is, and a sentence for each variable not set."""
    missing: list[str] = []
    filled = {name: expand(tree[name], environ, joined(path, name), missing) for name in names if name in tree}
    return tree | filled, missing


def _filled(text: str, environ: Mapping[str, str], path: str, missing: list[str]) -> str:
    for name in dict.fromkeys(re.findall(NAME, text)):
        if name not in environ:
            missing.append(f"{path}: ${{{name}}} is not set in the environment; set it, or write the value itself")
    return re.sub(NAME, lambda match: environ.get(match[1], match[0]), text)
