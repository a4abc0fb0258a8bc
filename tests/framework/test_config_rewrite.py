"""How config.json is written: whole or not at all, never over what somebody else wrote, never another way than read."""

from __future__ import annotations

import json
import logging
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from reverie.config import Config, migrate, migrated, template, write_template
from reverie.config.outline import outline_of, section
from reverie.config.replacement import back_up
from reverie_hookspecs import DOCUMENTED, ConfigError, DreamSettings, MemorySettings

KEYS = [key for key in outline_of(DOCUMENTED) if "gateway" in key.levels]
SMALL = {"gateway": {"dreaming": {"mode": "auto"}}, "agents": [{"id": "a"}]}


def aged(version: str | None, gateway: Any = None, **rest: Any) -> dict[str, Any]:
    """A configuration of some version."""
    age = {} if version is None else {"configVersion": version}
    return age | {"gateway": gateway if gateway is not None else {}, "agents": [{"id": "a"}], **rest}


def write(tmp_path: Path, tree: Any, name: str = "config.json") -> Path:
    file = tmp_path / name
    file.write_text(tree if isinstance(tree, str) else json.dumps(tree, indent=2), "utf-8")
    return file


def modes(tree: Any) -> tuple[Any, Any]:
    return tuple(section(tree, f"gateway.{path}").get("mode") for path in ("dreaming", "knowledge.shared"))  # type: ignore[return-value]


# The template


def test_the_template_holds_every_documented_key_at_its_default_save_write_routing() -> None:
    gateway = template()["gateway"]
    for key in KEYS:
        held = section(gateway, key.path)
        assert key.name in held, key.dotted
        special: dict[str, Any] = {"memory.writeRouting": True, "knowledge.shared.root": None}
        value = special.get(key.dotted, key.default)
        assert (held[key.name], type(held[key.name])) == (value, type(value)), key.dotted


def test_the_template_holds_no_other_key() -> None:
    def leaves(tree: dict[str, Any], path: str = "") -> set[str]:
        found: set[str] = set()
        for name, value in tree.items():
            here = f"{path}.{name}" if path else name
            found |= leaves(value, here) if isinstance(value, dict) else {here}
        return found

    assert leaves(template()["gateway"]) == {key.dotted for key in KEYS}
    assert list(template()) == ["configVersion", "gateway", "agents", "plugins"]
    assert template()["configVersion"] == "1.0.26"


def test_the_written_template_is_a_configuration_without_remarks_at_every_default(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "er" / "config.json"
    assert write_template(file, [{"id": "a", "workspace": "~/w"}])
    config = Config.load(file, tmp_path, {"HOME": "/h"})
    assert config.remarks == ()
    assert config.agents[0].workspace == Path("/h/w")
    assert config.settings("a")[MemorySettings] == MemorySettings(write_routing=True)
    default = Config.load(None, tmp_path, {}).settings()
    assert all(config.settings("a")[block] == default[block] for block in DOCUMENTED if block is not MemorySettings)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in file.parent.iterdir()] == ["config.json"]


def test_the_template_is_never_written_over_a_file_nor_over_a_broken_link(tmp_path: Path) -> None:
    file = write(tmp_path, "mine")
    assert not write_template(file)
    assert file.read_text() == "mine"
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "gone.json")
    assert not write_template(link)
    assert not (tmp_path / "gone.json").exists()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["config.json", "link.json"]


def test_a_template_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    write(tmp_path, "x", "file")
    with pytest.raises(ConfigError, match="cannot be written: File exists"):
        write_template(tmp_path / "file" / "config.json")


def test_a_file_system_without_hard_links_gets_its_template_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    assert write_template(tmp_path / "config.json")
    assert not write_template(tmp_path / "config.json")
    assert json.loads((tmp_path / "config.json").read_text()) == template()


# Writing


def test_a_file_is_migrated_with_a_backup_its_mode_and_its_manner(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    tree = aged("1.0.23", {"dreaming": {"mode": "propose"}, "api": {"name": "สวัสดี 小猫"}}) | {"zz": [1.5, 1e22]}
    file = write(tmp_path, tree)
    file.chmod(0o640)
    before = file.read_bytes()
    done = migrate(file)
    assert done.written
    assert (done.before, done.after, done.reason) == ("1.0.23", "1.0.26", "")
    assert done.backup == tmp_path / "config.json.bak"
    assert done.backup.read_bytes() == before
    assert [stat.S_IMODE(each.stat().st_mode) for each in (file, done.backup)] == [0o640, 0o640]
    text = file.read_text("utf-8")
    assert json.loads(text) == migrated(tree).tree
    assert "สวัสดี 小猫" in text
    assert text.startswith('{\n  "configVersion": "1.0.26",\n  "gateway": {\n    "dreaming": {\n      "mode": "auto"')
    assert text.endswith("}\n")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["config.json", "config.json.bak"]
    log = "\n".join(record.getMessage() for record in caplog.records)
    assert f"{file}: added gateway.dreaming.dreamHour" in log
    assert 'gateway.dreaming.mode: "propose" was the default' in log
    assert f"what stood there is kept in {done.backup}" in log


def test_a_rehearsal_tells_what_would_be_and_writes_nothing(tmp_path: Path) -> None:
    file = write(tmp_path, SMALL | {"configVersion": "1.0.20"})
    before = file.read_bytes()
    done = migrate(file, rehearsal=True)
    assert not done.written
    assert done.told[0] == "configVersion is 1.0.20 and would be 1.0.26"
    assert "would add gateway.dreaming.dreamHour" in done.told
    assert file.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["config.json"]


def test_migrating_again_does_nothing(tmp_path: Path) -> None:
    file = write(tmp_path, SMALL)
    assert migrate(file).before == "not named"
    before, when = file.read_bytes(), file.stat().st_mtime_ns
    done = migrate(file)
    assert (done.written, done.told, done.before) == (False, [], "1.0.26")
    assert (file.read_bytes(), file.stat().st_mtime_ns) == (before, when)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["config.json", "config.json.bak"]


def test_a_wish_set_again_after_the_migration_stays(tmp_path: Path) -> None:
    file = write(tmp_path, aged("1.0.20", {"dreaming": {"mode": "propose"}}))
    migrate(file)
    tree = json.loads(file.read_text())
    tree["gateway"]["dreaming"]["mode"] = "propose"
    write(tmp_path, tree)
    assert not migrate(file).written
    assert Config.load(file, tmp_path, {}).settings("a")[DreamSettings].mode == "propose"


def test_newlines_and_byte_order_mark_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(SMALL, indent=1).replace("\n", "\r\n").encode())
    assert migrate(file).written
    data = file.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf{\r\n  ")
    assert data.count(b"\n") == data.count(b"\r\n")


UNREPEATABLE = {
    "a huge integer": '"x": ' + "9" * 5000,
    "a number beyond doubles": '"x": 1e999',
    "a fraction of too many digits": '"x": 0.10000000000000000000001',
    "an integer written as a float beyond its digits": '"x": 12345678901234567890.5',
    "half a surrogate pair": '"x": "\\ud800"',
    "half a pair in a name": '"\\udfff": 1',
    "a name twice": '"x": 1, "x": 2',
    "a name twice, deep": '"x": [{"y": {"z": 1, "z": 1}}]',
    "a name twice in an overruled object": '"x": {"y": 1, "y": 2}, "x": 3',
    "an exponent beyond every library": '"x": 1e99999999999999999999',
}


@pytest.mark.parametrize("inner", UNREPEATABLE.values(), ids=UNREPEATABLE)
def test_a_file_that_could_not_be_written_back_exactly_is_left_alone_and_says_so(tmp_path: Path, inner: str) -> None:
    file = write(tmp_path, f'{{"gateway": {{}}, "agents": [{{"id": "a"}}], {inner}}}')
    before = file.read_bytes()
    done = migrate(file)
    assert not done.written
    assert "could not be written back as it is; mend it, then migrate" in done.reason
    assert done.told[-1] == f"nothing was written: {done.reason}"
    assert file.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["config.json"]
    assert Config.load(file, tmp_path, {}).settings("a")


REPEATABLE = [
    "1.10",
    "1e2",
    "-0",
    "-0.0",
    "1E+22",
    "0.1",
    "123456789012345678901234567890",
    "5e-324",
    '"\\u0041\\ud83d\\ude00"',
    '"\\/"',
]


@pytest.mark.parametrize("literal", REPEATABLE)
def test_what_is_only_written_another_way_is_no_obstacle(tmp_path: Path, literal: str) -> None:
    file = write(tmp_path, f'{{"gateway": {{}}, "agents": [{{"id": "a"}}], "x": {literal}}}')
    assert migrate(file).written
    assert json.loads(file.read_text("utf-8"))["x"] == json.loads(literal)


@pytest.mark.parametrize("version", ["1.0.27", "9.9.9", 26, "x"])
def test_a_newer_or_unreadable_version_is_never_rewritten(tmp_path: Path, version: Any) -> None:
    file = write(tmp_path, aged(version))
    before = file.read_bytes()
    done = migrate(file)
    assert (done.written, done.reason) == (False, "its version is none that this reverie can migrate")
    assert file.read_bytes() == before


def test_a_file_without_gateway_is_left_alone_and_says_so(tmp_path: Path) -> None:
    done = migrate(write(tmp_path, {"agents": []}))
    assert (done.written, done.reason) == (False, 'there is no "gateway" object to bring up to date')


@pytest.mark.parametrize("depth", [100, 500, 900, 940, 960, 980, 2000])
def test_a_foreign_section_of_any_depth_is_kept_exactly_or_the_file_is_left_alone(tmp_path: Path, depth: int) -> None:
    file = write(tmp_path, f'{{"gateway": {{}}, "agents": [{{"id": "a"}}], "x": {"[" * depth}{"]" * depth}}}')
    before = file.read_bytes()
    try:
        written = migrate(file).written
    except ConfigError:
        written = False
    assert written or depth > 100
    text = file.read_text()
    assert text.count("[") == depth + 1 if written else file.read_bytes() == before


def test_a_link_to_itself_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "config.json").symlink_to("config.json")
    with pytest.raises(ConfigError, match="cannot be read"):
        migrate(tmp_path / "config.json")


def test_a_file_that_is_no_json_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not JSON at line 1"):
        migrate(write(tmp_path, "{,}"))


def test_an_older_backup_of_something_else_is_not_overwritten(tmp_path: Path) -> None:
    file = write(tmp_path, SMALL)
    write(tmp_path, "precious", "config.json.bak")
    done = migrate(file)
    assert done.backup == tmp_path / "config.json.bak.1"
    assert (tmp_path / "config.json.bak").read_text() == "precious"


def test_a_backup_left_by_a_killed_migration_is_taken_for_its_own(tmp_path: Path) -> None:
    file = write(tmp_path, SMALL)
    (tmp_path / "config.json.bak").write_bytes(file.read_bytes())
    assert migrate(file).backup == tmp_path / "config.json.bak"


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    real = write(tmp_path, SMALL, "real.json")
    link = tmp_path / "config.json"
    link.symlink_to(real)
    done = migrate(link)
    assert done.backup == tmp_path / "real.json.bak"
    assert link.is_symlink()
    assert json.loads(real.read_text())["configVersion"] == "1.0.26"


def test_a_file_changed_once_meanwhile_is_migrated_with_that_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, SMALL)
    changes = iter([True, False])

    def interrupted(target: Path, data: bytes) -> Path:
        if next(changes):
            write(tmp_path, SMALL | {"theirs": 1})
        return back_up(target, data)

    monkeypatch.setattr("reverie.config.migration.back_up", interrupted)
    assert migrate(file).written
    tree = json.loads(file.read_text())
    assert (tree["theirs"], tree["configVersion"]) == (1, "1.0.26")


def test_a_file_that_keeps_changing_is_left_to_whoever_changes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, SMALL)
    count = iter(range(9))

    def interrupted(target: Path, data: bytes) -> Path:
        write(tmp_path, SMALL | {"theirs": next(count)})
        return back_up(target, data)

    monkeypatch.setattr("reverie.config.migration.back_up", interrupted)
    done = migrate(file)
    assert (done.written, done.reason) == (False, "somebody else changed it meanwhile; try again")
    assert json.loads(file.read_text()) == SMALL | {"theirs": 1}


@pytest.mark.parametrize("step", ["fsync", "link", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    file = write(tmp_path, SMALL)
    before = file.read_bytes()

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path if step == "replace" else os, step, fail)
    if step == "link":
        monkeypatch.setattr(Path, "replace", fail)
    done = migrate(file)
    assert (done.written, done.reason) == (False, "No space left on device; make the file and its folder writable")
    assert file.read_bytes() == before
    assert {each.name for each in tmp_path.iterdir()} <= {"config.json", "config.json.bak"}
