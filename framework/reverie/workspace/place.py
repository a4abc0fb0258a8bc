"""Confinement: which paths lie below a root, and whether a link stands in the way."""

from __future__ import annotations

from reverie_hookspecs import Refused

from .disk import Disk


def checked(path: str) -> tuple[str, ...]:
    """The components of a relative path with forward slashes; Refused with a sentence for any other."""
    parts = tuple(path.split("/"))
    if flaw := _flaw(path, parts):
        raise Refused(f"{path!r} is refused: {flaw}; name a file below the folder, such as memory/topic.md")
    return parts


def _flaw(path: str, parts: tuple[str, ...]) -> str:
    if not path:
        return "the path is empty"
    if "\0" in path:
        return "it holds a NUL"
    if "\\" in path:
        return "it holds a backslash"
    if path.startswith("/"):
        return "it is absolute"
    if ".." in parts:
        return "it climbs out with '..'"
    return "it has an empty component or a '.'" if "" in parts or "." in parts else ""


def bridged(disk: Disk, root: str, parts: tuple[str, ...]) -> str:
    """The first of the folders on the way to a file that is a link, as a relative path; empty if none is."""
    path = root
    for index, part in enumerate(parts[:-1]):
        path = f"{path}/{part}"
        look = disk.look(path)
        if look is None:
            return ""
        if look.kind == "link":
            return "/".join(parts[: index + 1])
    return ""


def writable(disk: Disk, root: str, path: str) -> str:
    """The absolute path of a file that may be written; Refused for a link on the way or in its place."""
    parts = checked(path)
    link = bridged(disk, root, parts)
    target = f"{root}/{path}"
    if not link:
        look = disk.look(target)
        if look is None or look.kind == "file":
            return target
        if look.kind != "link":
            raise Refused(f"{path} is refused: it is no regular file; take it away, or name another")
        link = path
    raise Refused(f"{path} is refused: {link} is a link, and none is followed; put a real file or folder in its place")


def solid(disk: Disk, folder: str) -> None:
    """Have a folder of records, made if missing; Refused if it is a link, for what is kept there would go elsewhere."""
    disk.mkdirs(folder)
    look = disk.look(folder)
    if look is None or look.kind != "folder":
        raise Refused(f"{folder} is no folder of its own, so nothing is written; put a real folder in its place")
