"""Hostile, broken and odd configurations: each ends in a sentence, never in a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reverie.config import Config
from reverie_hookspecs import DOCUMENTED, ConfigError, Settings

GOOD = '"gateway": {}, "agents": [{"id": "a"}]'


def gateway(inner: str) -> str:
    """A usable configuration whose gateway holds some JSON."""
    return f'{{"gateway": {{{inner}}}, "agents": [{{"id": "a"}}]}}'


def agent(inner: str) -> str:
    """A usable configuration, one of whose two agents holds some JSON."""
    return f'{{"gateway": {{}}, "agents": [{{"id": "a", {inner}}}, {{"id": "b"}}]}}'


def loaded(tmp_path: Path, text: str | bytes, environ: dict[str, str] | None = None) -> Config:
    file = tmp_path / "config.json"
    file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return Config.load(file, tmp_path / "home", environ or {"HOME": str(tmp_path)})


def outcome(tmp_path: Path, text: str | bytes) -> Config | ConfigError:
    """The configuration, or the sentences in its place."""
    try:
        return loaded(tmp_path, text)
    except ConfigError as error:
        told = error
    assert told.problems
    assert all(str(tmp_path) in problem for problem in told.problems)
    return told


FATAL: dict[str, tuple[str | bytes, list[str]]] = {
    "an empty file": ("", ["is empty"]),
    "nothing but white space": (" \n\t ", ["is empty"]),
    "only a byte order mark": (b"\xef\xbb\xbf", ["is empty"]),
    "no UTF-8": (b'{\n"gateway": "\xff"}', ["not UTF-8 at line 2", "save it as UTF-8"]),
    "UTF-16": ("{}".encode("utf-16"), ["not UTF-8"]),
    "encoded surrogates": (b'{"a": "\xed\xa0\x80"}', ["not UTF-8"]),
    "a zero byte": (b'{"gateway":\x00{}}', ["line 1, column 12"]),
    "prose": ("hello", ["not JSON at line 1, column 1", "expecting value"]),
    "YAML": ("gateway:\n  dreaming: true\n", ["not JSON at line 1, column 1"]),
    "a line comment": ('{\n  // note\n  "gateway": {}}', ["line 2, column 3", "comments are not JSON"]),
    "a block comment": ('{"gateway": /* x */ {}}', ["line 1, column 13", "comments are not JSON"]),
    "a hash comment": ('{"gateway": {}} # end', ["line 1, column 17", "comments are not JSON"]),
    "a comment after a value": ('{"gateway": {} // x\n}', ["line 1, column 16", "comments are not JSON"]),
    "a trailing comma in an object": ('{"gateway": {},\n}', ["a comma before a closing bracket"]),
    "a trailing comma in an array": ('{"agents": [1, ]}', ["a comma before a closing bracket"]),
    "single quotes": ("{'gateway': {}}", ["column 2", "double quotes"]),
    "a missing comma": ('{"gateway": {}\n"agents": []}', ["line 2, column 1", "expecting ',' delimiter"]),
    "a file cut off": ('{"gateway": {"dreaming": {', ["cut off"]),
    "a string cut off": ('{"gateway": "abc', ["column 13", "unterminated string"]),
    "a tab in a string": ('{"gateway": "a\tb"}', ["invalid control character"]),
    "a wrong escape": ('{"gateway": "\\x41"}', ["invalid \\escape"]),
    "two documents": ("{} {}", ["column 4", "extra data"]),
    "NaN": ('{"a": "NaN",\n "b": NaN}', ["line 2, column 7", "NaN is no JSON number"]),
    "Infinity": ('{"b": Infinity}', ["column 7", "Infinity is no JSON number"]),
    "minus Infinity": ('{"b": -Infinity}', ["column 7", "-Infinity is no JSON number"]),
    "True of Python": ('{"b": True}', ["column 7", "expecting value"]),
    "a hexadecimal number": ('{"b": 0x1F}', ["column 8"]),
    "a leading zero": ('{"b": 03}', ["column 8"]),
    "too deep": ('{"gateway":' + "[" * 100_000, ["nested too deeply"]),
    "an array outermost": ("[]", ["no object"]),
    "null outermost": ("null", ["no object"]),
    "a string outermost": ('"x"', ["no object"]),
    "an object with nothing in it": ("{}", ['no "gateway" object', 'no "agents" array']),
    "no gateway": ('{"agents": [{"id": "a"}]}', ['no "gateway" object']),
    "gateway spelt another way": ('{"Gateway": {}, "agents": [{"id": "a"}]}', ['is "Gateway" meant?']),
    "gateway a list": ('{"gateway": [], "agents": [{"id": "a"}]}', ["gateway: a list is no object"]),
    "gateway null": ('{"gateway": null, "agents": [{"id": "a"}]}', ['no "gateway" object']),
    "no agents": ('{"gateway": {}}', ['no "agents" array']),
    "agents an object": ('{"gateway": {}, "agents": {"a": {}}}', ["agents: an object is no array"]),
    "agents null": ('{"gateway": {}, "agents": null}', ['no "agents" array']),
    "agent in place of agents": ('{"gateway": {}, "agent": []}', ['is "agent" meant?']),
    "an empty list of agents": ('{"gateway": {}, "agents": []}', ["no agent can be used", '{"id": "NAME"}']),
    "no usable agent": ('{"gateway": {}, "agents": [7]}', ["no agent can be used", "agents[0] is skipped: 7 is no"]),
    "only a doubtful agent": (
        '{"gateway": {}, "agents": [{"id": "a", "isolateMemory": 1}]}',
        ["no agent can be used", "isolateMemory: 1 is not true or false"],
    ),
    "one id twice": (
        '{"gateway": {}, "agents": [{"id": "a"}, {"id": "b"}, {"id": "a"}]}',
        ['several entries have the id "a"'],
    ),
    "an id of a skipped agent twice": (
        '{"gateway": {}, "agents": [{"id": "a", "isolateMemory": "x"}, {"id": "a"}, {"id": "b"}]}',
        ['several entries have the id "a"'],
    ),
    "plugins a list": (f'{{{GOOD}, "plugins": []}}', ["plugins: a list is not an object"]),
    "plugins of other types": (
        f'{{{GOOD}, "plugins": {{"a": 1, "b": {{}}, "c": true}}}}',
        ["plugins.a: 1 is no choice", "plugins.b: an object is no choice"],
    ),
    "an unset variable": (
        gateway('"dreaming": {"reviewModel": "${MODEL}"}'),
        ["gateway.dreaming.reviewModel: ${MODEL}"],
    ),
    "an unset variable in a plugin": (f'{{{GOOD}, "plugins": {{"model": "${{X}}"}}}}', ["plugins.model: ${X}"]),
    "an unset variable in the zone": (gateway('"timezone": "${TZ_NAME}"'), ["gateway.timezone: ${TZ_NAME}"]),
    "everything at once": (
        '{"gateway": {"memory": {"overBudget": "${A}${B}"}}, "agents": {}, "plugins": 3}',
        ["${A}", "${B}", "agents: an object", "plugins: 3"],
    ),
}


@pytest.mark.parametrize(("text", "fragments"), FATAL.values(), ids=FATAL)
def test_what_cannot_be_used_ends_in_sentences_that_name_the_file(
    tmp_path: Path, text: str | bytes, fragments: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, text)
    told = str(caught.value)
    assert all(fragment in told for fragment in fragments), told
    assert all(str(tmp_path / "config.json") in problem for problem in caught.value.problems)
    assert told.isprintable() or set(filter(lambda each: not each.isprintable(), told)) == {"\n"}
    assert "Traceback" not in told


DEEP = '{"a":' * 300 + "1" + "}" * 300
ODD: dict[str, tuple[str | bytes, list[str]]] = {
    "the least there can be": (f"{{{GOOD}}}", []),
    "a byte order mark": (b"\xef\xbb\xbf{" + GOOD.encode() + b"}", []),
    "Windows newlines": ("{\r\n" + GOOD.replace(" ", "\r\n") + "}", []),
    "null everywhere": (gateway('"memory": null, "dreaming": {"mode": null, "staleness": null}, "timezone": null'), []),
    "foreign sections": (gateway('"channels": {"x": "${UNSET}"}, "bind": 5, "api": [1], "models": null'), []),
    "a foreign section, deep": (gateway(f'"deep": {DEEP}'), []),
    "a name said twice": (gateway('"memory": {}, "memory": {"overBudget": "error"}'), ["gateway.memory: stands twice"]),
    "a key said twice": (
        gateway('"memory": {"overBudget": "error", "overBudget": "warn"}'),
        ["gateway.memory.overBudget: stands twice"],
    ),
    "a key said twice in an agent": (agent('"memory": {}, "memory": {}'), ["agents[0].memory: stands twice"]),
    "a key said twice in an overruled object": (gateway('"x": {"a": 1, "a": 2}, "x": {}'), ["gateway.x: stands twice"]),
    "gateway said twice": (f'{{"gateway": {{"api": 1}}, {GOOD}}}', ["gateway: stands twice"]),
    "a word for a number": (
        gateway('"memory": {"memoryBudgetChars": "9000"}'),
        ['"9000" is not a whole number of at least 0; 8000, the default, is used'],
    ),
    "a negative budget": (gateway('"memory": {"memoryBudgetChars": -1}'), ["-1 is not a whole number of at least 0"]),
    "a fraction for a budget": (gateway('"memory": {"userBudgetChars": 0.5}'), ["3000, the default"]),
    "true for a number": (gateway('"dreaming": {"dreamHour": true}'), ["true is not a whole number from 0 to 23"]),
    "hour 24": (gateway('"dreaming": {"dreamHour": 24}'), ["24 is not a whole number from 0 to 23; 3, the default"]),
    "minute -1": (gateway('"dreaming": {"dreamMinute": -1}'), ["-1 is not a whole number from 0 to 59"]),
    "a number beyond doubles": (
        gateway('"dreaming": {"quietMinutes": 1e999}'),
        ["a number beyond 1e308 is not a whole number"],
    ),
    "a clamped number beyond doubles": (
        gateway('"dreaming": {"staggerWindowMinutes": 1e999}'),
        ["is not a finite number; 30, the default"],
    ),
    "an integer of 5,000 digits": (gateway(f'"dreaming": {{"lookbackDays": {"9" * 5000}}}'), ["a number beyond 1e308"]),
    "an integer of 400 digits": (
        gateway(f'"dreaming": {{"lookbackDays": {"9" * 400}}}'),
        ["a number beyond 1e308 is not a whole"],
    ),
    "a clamped integer of 400 digits": (
        gateway(f'"sessionCompaction": {{"thresholdPercent": {"9" * 400}}}'),
        ["is not a finite number; 50, the default"],
    ),
    "a foreign integer of 5,000 digits": (gateway(f'"x": {"9" * 5000}'), []),
    "minus zero": (gateway('"memory": {"memoryBudgetChars": -0.0}'), []),
    "a whole number with a point": (gateway('"memory": {"memoryBudgetChars": 9000.0}'), []),
    "a threshold above one": (
        gateway('"dreaming": {"promotionThreshold": 60}'),
        ["60 is not a number from 0.0 to 1.0"],
    ),
    "importance 11": (gateway('"dreaming": {"staleness": {"keepImportance": 11}}'), ["11 is not", "7, the default"]),
    "a day called Sunday": (gateway('"knowledge": {"reflection": {"dayOfWeek": "Sunday"}}'), ['"Sunday" is not']),
    "an odd word for a switch": (gateway('"skillLearning": {"notify": "yes"}'), ['"yes" is not true or false']),
    "0 for a switch": (gateway('"dreaming": {"enabled": 0}'), ["0 is not true or false; true, the default"]),
    "a list for a word": (gateway('"memory": {"overBudget": ["error"]}'), ['a list counts as "warn"']),
    "a mode of another type": (gateway('"dreaming": {"mode": true}'), ['true counts as "propose"']),
    "a mode with a space": (gateway('"skillLearning": {"mode": "auto "}'), ['"auto " counts as "propose"']),
    "a model that is no word": (gateway('"dreaming": {"reviewModel": ""}'), ['"" is not the name of a model']),
    "half a surrogate pair": (gateway('"dreaming": {"reviewModel": "\\ud83d"}'), ['"\\ud83d" is not a string']),
    "half a pair in a key": (gateway('"memory": {"\\udc00": 1}'), ["gateway.memory.\\udc00: unknown key"]),
    "terminal codes in a key": (gateway('"memory": {"\\u001b[31m": 1}'), ["gateway.memory.\\x1b[31m"]),
    "a newline in a value": (gateway('"knowledge": {"archive": {"tokenizer": "a\\nb"}}'), ['"a\\nb" is not one of']),
    "text that runs backwards": (gateway('"memory": {"\\u202eabc": 1}'), ["\\u202eabc"]),
    "an endless value": (gateway(f'"knowledge": {{"archive": {{"tokenizer": "{"x" * 9999}"}}}}'), ['xxx…" is not']),
    "an endless key": (gateway(f'"memory": {{"{"x" * 9999}": 1}}'), ["xxx…: unknown key"]),
    "a misspelt key": (
        gateway('"dreaming": {"dreamHours": 3}'),
        ["dreamHours: unknown key", 'did you mean "dreamHour"?'],
    ),
    "a key in snake case": (gateway('"dreaming": {"dream_hour": 3}'), ['did you mean "dreamHour"?']),
    "an unknown key": (gateway('"dreaming": {"zzzz": 3}'), ["gateway.dreaming.zzzz: unknown key, not used"]),
    "a misspelt section below knowledge": (
        gateway('"knowledge": {"archiv": {"enabled": false}}'),
        ['gateway.knowledge.archiv: unknown key, not used; did you mean "archive"?'],
    ),
    "a section spelt another way": (
        gateway('"Dreaming": {}'),
        ['gateway.Dreaming: is not read; did you mean "dreaming"'],
    ),
    "plugins spelt another way": (f'{{{GOOD}, "Plugins": {{}}}}', ['Plugins: is not read; did you mean "plugins"?']),
    "isolation spelt another way": (
        agent('"isolate_memory": true'),
        ['agents[a].isolate_memory: is not read; did you mean "isolateMemory"?'],
    ),
    "a switch of agents at the gateway": (
        gateway('"isolateMemory": true'),
        ["gateway.isolateMemory: counts at agent level only"],
    ),
    "isolation at the gateway": (gateway('"isolation": {"tools": 4}'), []),
    "a list for a section": (gateway('"dreaming": []'), ["gateway.dreaming: a list is not an object"]),
    "a number for a section": (gateway('"knowledge": 5'), ["gateway.knowledge: 5 is not an object"]),
    "a list for a section below": (
        gateway('"dreaming": {"staleness": false}'),
        ["gateway.dreaming.staleness: false is not an object, and counts as not set"],
    ),
    "a word for a section of an agent": (agent('"skillLearning": "off"'), ['agents[a].skillLearning: "off" is not an']),
    "a gateway's key at an agent": (
        agent('"dreaming": {"maxCostUsd": 5}'),
        ["agents[a].dreaming.maxCostUsd: counts at gateway level only"],
    ),
    "a gateway's section at an agent": (
        agent('"knowledge": {"reflection": {"hour": "x", "zzz": 1}}'),
        ["agents[a].knowledge.reflection: counts at gateway level only"],
    ),
    "a vault's staleness at an agent": (
        agent('"knowledge": {"shared": {"staleness": {"staleTtlDays": 1, "recordRetrievals": false}}}'),
        ["agents[a].knowledge.shared.staleness.staleTtlDays: counts at gateway level only"],
    ),
    "somebody's time zone at an agent": (agent('"timezone": "Europe/Berlin"'), []),
    "a bad zone": (
        gateway('"dreaming": {"dreamTimezone": "Mars/X"}'),
        ['"Mars/X" is not an IANA time zone such as Europe/Berlin; "UTC", the default, is used'],
    ),
    "a zone that is a folder": (gateway('"timezone": "Europe"'), ['gateway.timezone: "Europe" is not']),
    "a zone that climbs": (gateway('"timezone": "../../etc/passwd"'), ["is not an IANA time zone"]),
    "a zone with a zero byte": (gateway('"timezone": "Europe\\u0000"'), ['"Europe\\x00" is not']),
    "a zone of another type": (gateway('"timezone": ["UTC"]'), ["gateway.timezone: a list is not"]),
    "an empty zone": (gateway('"timezone": ""'), ['gateway.timezone: "" is not']),
    "notes outside memory": (gateway('"memory": {"episodicArchiveDir": "notes"}'), ['"notes" is not a folder inside']),
    "notes that climb": (
        gateway('"memory": {"episodicArchiveDir": "memory/../x"}'),
        ["is not a folder inside memory/"],
    ),
    "notes in the archive": (
        gateway('"memory": {"episodicArchiveDir": "memory/archive/x"}'),
        ["is not a folder inside"],
    ),
    "notes in the archive, in capitals": (gateway('"memory": {"episodicArchiveDir": "memory/Archive"}'), ["is not"]),
    "notes among the pinned": (gateway('"memory": {"episodicArchiveDir": "./memory//pinned/"}'), ["is not a folder"]),
    "notes anywhere": (gateway('"memory": {"episodicArchiveDir": "/etc"}'), ['"/etc" is not a folder inside memory/']),
    "notes out of sight": (gateway('"memory": {"episodicArchiveDir": "memory/.git"}'), ["is not a folder inside"]),
    "a project that climbs": (
        gateway('"knowledge": {"shared": {"project": "../x"}}'),
        ['"../x" is not one path segment'],
    ),
    "a project of dots": (gateway('"knowledge": {"shared": {"project": ".."}}'), ['"global", the default, is used']),
    "a project with a newline": (gateway('"knowledge": {"shared": {"project": "x\\n"}}'), ["is not one path segment"]),
    "a vault relative to nowhere": (gateway('"knowledge": {"shared": {"root": "kb"}}'), ["is not an absolute path"]),
    "a tokenizer of nobody": (gateway('"knowledge": {"archive": {"tokenizer": "icu"}}'), ["one of unicode61, trigram"]),
    "chunks too small": (gateway('"knowledge": {"archive": {"chunkTokens": 15}}'), ["a whole number of at least 16"]),
    "an overlap as large as a chunk": (
        gateway('"knowledge": {"archive": {"chunkTokens": 100, "chunkOverlap": 100}}'),
        ["gateway.knowledge.archive.chunkOverlap: 100 counts as 99"],
    ),
    "tools that are none": (agent('"isolation": {"tools": ["x", 3]}'), ["a list is not a list of names of tools"]),
    "a version that is none": ('{"configVersion": 26, ' + GOOD + "}", ["configVersion: 26 is not three numbers"]),
    "a version of two parts": ('{"configVersion": "1.0", ' + GOOD + "}", ['configVersion: "1.0" is not three numbers']),
    "a newer version": (
        '{"configVersion": "2.0.0", ' + GOOD + "}",
        ["2.0.0 is newer than 1.0.26", "nothing rewritten"],
    ),
    "an older version": ('{"configVersion": "1.0.25", ' + GOOD + "}", ["1.0.25 is older than 1.0.26"]),
    "many at once": (
        gateway('"memory": {"overBudget": 1, "zz": 2}, "dreaming": {"dreamHour": 99}'),
        ["gateway.memory.overBudget: 1", "gateway.memory.zz", "gateway.dreaming.dreamHour: 99"],
    ),
}


@pytest.mark.parametrize(("text", "fragments"), ODD.values(), ids=ODD)
def test_what_can_be_used_is_with_exactly_these_remarks(
    tmp_path: Path, text: str | bytes, fragments: list[str]
) -> None:
    config = loaded(tmp_path, text)
    told = [str(remark) for remark in config.remarks]
    assert all(any(fragment in line for line in told) for fragment in fragments), told
    lines = {next(line for line in told if fragment in line) for fragment in fragments}
    assert len(told) == len(lines), told
    assert all(line.isprintable() and len(line) < 300 for line in told)
    for name in ("a", None):
        everything(config.settings(name))


def everything(values: Settings) -> dict[type, Any]:
    """Every block, made; what a block holds is what its own rules allow."""
    made = {block: values[block] for block in DOCUMENTED}
    assert all(isinstance(value, block) for block, value in made.items())
    return made


SKIPPED: dict[str, tuple[str, str, str]] = {
    "isolateMemory in quotes": ('"isolateMemory": "true"', "agents[a]", 'isolateMemory: "true" is not true or false'),
    "isolateMemory null": ('"isolateMemory": null', "agents[a]", "isolateMemory: null is not true or false"),
    "disableArchive 1": ('"disableArchive": 1', "agents[a]", "disableArchive: 1 is not true or false"),
    "disableArchive a list": ('"disableArchive": []', "agents[a]", "disableArchive: a list is not true or false"),
    "an unset variable": (
        '"memory": {"overBudget": "${X}"}',
        "agents[a]",
        "memory.overBudget: ${X} is not set",
    ),
    "an unset variable in the workspace": (
        '"workspace": "${X}/w"',
        "agents[a]",
        "workspace: ${X} is not set",
    ),
    "an empty workspace": ('"workspace": ""', "agents[a]", 'workspace: "" is no path'),
    "a workspace of another type": ('"workspace": 7', "agents[a]", "workspace: 7 is no path"),
    "a workspace of nobody": ('"workspace": "~nobody-of-that-name/w"', "agents[a]", "names a user who does not exist"),
    "a workspace with a zero byte": ('"workspace": "a\\u0000"', "agents[a]", "is no path"),
    "isolation without its own prompt": (
        '"isolateMemory": true, "claude": {"extraFlags": ["--append-system-prompt-file", "x.md"]}',
        "agents[a]",
        "would replace the conversation's memory",
    ),
    "isolation with the flag and its value in one": (
        '"isolateMemory": true, "claude": {"extraFlags": ["--model=x", "--append-system-prompt-file=x.md"]}',
        "agents[a]",
        "--append-system-prompt-file",
    ),
    "isolation with flags in one string": (
        '"isolateMemory": true, "claude": {"extraFlags": "--verbose --append-system-prompt-file x"}',
        "agents[a]",
        "--append-system-prompt-file",
    ),
}


@pytest.mark.parametrize(("inner", "name", "reason"), SKIPPED.values(), ids=SKIPPED)
def test_a_doubtful_agent_is_skipped_and_the_others_start(tmp_path: Path, inner: str, name: str, reason: str) -> None:
    config = loaded(tmp_path, agent(inner))
    assert [entry.id for entry in config.agents] == ["b"]
    (skipped,) = config.skipped
    assert skipped.agent == name
    assert reason in skipped.reason
    assert str(skipped).startswith(f"{name} is skipped: ")
    assert config.remarks == ()


@pytest.mark.parametrize(
    "inner",
    [
        '"isolateMemory": false, "claude": {"extraFlags": ["--append-system-prompt-file", "x"]}',
        '"isolateMemory": true, "claude": {"extraFlags": ["--append-system-prompt", "no --append-system-prompt-file"]}',
        '"isolateMemory": true, "claude": {"extraFlags": ["--append-system-prompt", "x"]}',
        '"isolateMemory": true, "claude": {"extraFlags": {"a": 1}}',
        '"isolateMemory": true, "claude": [1]',
        '"disableArchive": true',
    ],
)
def test_an_agent_that_is_certain_is_not_skipped(tmp_path: Path, inner: str) -> None:
    assert [entry.id for entry in loaded(tmp_path, agent(inner)).agents] == ["a", "b"]


UNFIT: list[Any] = [
    "",
    " a",
    "a ",
    ".",
    "..",
    ".a",
    "-a",
    "a/b",
    "a\\b",
    "a\0",
    "a\n",
    "\ud800",
    "x" * 129,
    "ж" * 65,
    None,
    7,
    [],
    {},
    True,
]


@pytest.mark.parametrize("name", UNFIT, ids=repr)
def test_an_id_that_names_no_folder_skips_its_entry(tmp_path: Path, name: Any) -> None:
    entries = [{"id": "good"}, {"id": name}]
    config = loaded(tmp_path, json.dumps({"gateway": {}, "agents": entries}))
    assert [entry.id for entry in config.agents] == ["good"]
    assert config.skipped[0].agent == "agents[1]"
    assert str(config.skipped[0]).isprintable()


@pytest.mark.parametrize("name", ["a", "alfred-2", "Ünïcode", "小猫", "a b", "a.b", "x" * 128, "ж" * 64, "${HOME}"])
def test_any_other_id_is_taken_as_it_is(tmp_path: Path, name: str) -> None:
    config = loaded(tmp_path, json.dumps({"gateway": {}, "agents": [{"id": name}]}))
    assert [(entry.id, entry.workspace) for entry in config.agents] == [
        (name, tmp_path / "home" / "agents" / name / "workspace")
    ]


def test_a_folder_in_the_place_of_the_file_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        Config.load(tmp_path, tmp_path, {})


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        Config.load(tmp_path / "none.json", tmp_path, {})


def test_a_file_without_permission_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)  # a mode would not stop root
    with pytest.raises(ConfigError, match="cannot be read: Permission denied"):
        loaded(tmp_path, f"{{{GOOD}}}")


def test_a_broken_link_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "config.json").symlink_to(tmp_path / "gone.json")
    with pytest.raises(ConfigError, match="cannot be read"):
        Config.load(tmp_path / "config.json", tmp_path, {})


@pytest.mark.parametrize("depth", [50, 200, 400, 800, 900, 950, 990, 5000])
def test_a_section_of_ours_nested_to_any_depth_is_used_or_refused_in_a_sentence(tmp_path: Path, depth: int) -> None:
    deep = '{"a":' * depth + '"${HOME}"' + "}" * depth
    found = outcome(tmp_path, gateway(f'"dreaming": {{"zzz": {deep}, "reviewModel": {deep}}}'))
    assert "nested too deeply" in str(found) if isinstance(found, ConfigError) else len(found.remarks) == 2
    assert isinstance(found, Config if depth <= 200 else ConfigError) or 200 < depth < 1000
