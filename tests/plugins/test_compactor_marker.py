"""Which entries count as finished, and why others stay."""

from __future__ import annotations

import doctest
import importlib

import pytest
from hypothesis import given, strategies as st

from reverie_plugins.compactor.lead import BLOT, read_lead, spoken, view
from reverie_plugins.compactor.marker import FINISHED, POSSIBLE, terminal

WORDS = FINISHED.replace("|", " ").split()

MOVES = """
- Rent the van — DONE
- DONE
- DONE: rent the van
- **DONE** rent the van
- (RESOLVED) rent the van
- Rent the van (DONE)
- Rent the van (DONE 2026-03-01)
- Rent the van (✅ DONE)
- Rent the van. DONE.
- Rent the van. Status: DONE
- ✅ DONE — rent the van
- ✅ Rent the van
- ✅ **Rent the van**
- **✅ Rent the van**
- Rent the van ✅
- **Rent the van.** ✅
- [x] Rent the van
- [X] Rent the van
* [x] Rent the van
- [x] Rent the van must be done by Friday
- ~~Rent the van~~
- ~~Rent the van~~ — sold it
- ~~Rent the van~~ (dropped). Do not ask again.
- 1. ~~Rent the van~~
- [x] ~~Rent the van~~ gone
### ✅ Trip
### 1. ✅ Trip
### Trip ✅
#### Trip FINISHED
###### [x] Trip ##
### Trip — COMPLETED (2026-03-01)
- 2026-03-01: MERGED PR #12
- MERGED branch foo into main
- PR #12 MERGED and deployed
- Issue #5 CLOSED 2026-03-01 — not needed
- SHIPPED v2 to all users
- Order 66 CANCELLED by Ann
- Order 67 CANCELED by Ann
- Old API DEPRECATED 2026-01-01, removed
- 部署完成 DONE
- 部署任务DONE
- ✅ 部署完成
- [x] 语法检查
- ✅ 배포 완료
- ✅ ติดตั้งเสร็จแล้ว
- [x] Configurar o servidor (2026-04-01)
- Ticket 12: RESOLVED, the cache was stale
- Fix the key — DONE & SHIPPED
- DONE/gated by review
- Task "clean up" DONE
- Write docs for `foo` DONE
- [Plan](plan.md) — DONE
- The deal is CLOSED
- Phase 1 COMPLETED (5/5)
- Van | Ann | DONE
- ✅ Task 12: write the docs
- #12: fix the login ✅
- RENT THE VAN — DONE
"""

STAYS = {
    "a pointer": "- kept in memory/archive/completed.md DONE",
    "no marker": """
- rent the van, done yesterday
- UNRESOLVED seating chart
- status is IS_DONE flag
- xDONE
- DONEx
- CLOSED-LOOP control
- NON-DEPRECATED calls only
- see [X](https://x.example/u) for news
- the index a[x] must stay positive
- [x](link.md) is no box
- `DONE` is a status
- ``a ` DONE`` is code
- "DONE" is a status, and so is “CLOSED”
- [DONE](x.md) is the list
- ![DONE](x.png) is a picture
- [[DONE]] is a page
- https://x.example/DONE
- Use ~~npm~~ pnpm
- Gateway ✅ runs
- One ✅ two
### Trip
### TRIP
""",
    "an open box": """
- [ ] pack
- [ x ] pack
- [-] pack
- [/] DONE
- [] DONE
- [ ] rent the van ✅
- Rent the van DONE [ ] return
""",
    "the word is denied": """
- not DONE
- NOT DONE yet
- never CLOSED
- isn't DONE
- must be DONE by Friday
- to be MERGED after review
- when DONE, tell Ann
- mark as DONE
- mark it DONE
- almost DONE
- half DONE
- REOPENED after DONE
- status=DONE
- 未DONE
- 尚未 DONE
- ยังไม่ DONE
- não DONE
- nicht DONE
""",
    "the word has a condition": """
- DONE when all tests pass
- DONE?
- DONE means delivered
- DONE = delivered
- DONE() is called last
- DONE.txt holds the list
- CLOSED until May
""",
    "a list of values": "- states: NEW, DONE, CLOSED",
    "in a parenthesis": """
- It runs (part A DONE)
- It runs （part A DONE）
- It runs (DONE, mostly) since May
""",
    "in a later sentence": "- It works well. Part B DONE with care.",
    "far into the lead": f"- {'word ' * 40} DONE with care",
    "an adjective": """
- EXPIRED tokens return 401
- MERGED cells are split
- DEPRECATED endpoints still answer
""",
    "all in capitals": """
### CLOSED DEALS
- MERGED CELLS ARE SPLIT
""",
    "open work in the lead": """
- Rent the van DONE — NEXT: return it
- [★ ACTIVE: the van](van.md) — DONE & MERGED
- Rent the van DONE, return in progress
- Rent the van DONE; deposit remains
- Rent the van — DONE, refund PENDING
- TODO: rent the van (DONE)
- OPEN/CLOSED principle
- [x] Rent the van, still needed: a driver
- ✅ 部署完成，待确认
- [x] 배포 완료, 테스트 진행 중
- [x] Servidor pronto, aguardando acesso
- ✅ ติดตั้งเสร็จแล้ว เหลือทดสอบ
""",
    "a sign of open work": "- ⏳ Rent the van DONE",
    "a standing rule": """
- [x] Never push to main
- Van rented, DONE. Do not rent it again.
- DONE: **always** sign with Ann's key
- ✅ Deploy as admin, never as root
- [x] Login fixed; you MUST clear the cache
- ✅ 部署前必须备份
- [x] Deploy: nunca na sexta
- [x] 배포는 항상 금요일 이후
- ~~Van~~ — gone. Hard rule: rent no vans
""",
    "a correction": """
- [x] Agenda — is X (not Y)
- [x] Agenda — é o X (não o Y)
- ✅ 日程用 X（不是 Y）
""",
    "a field of what is above": """
- Status: DONE
- **Status**: COMPLETED - Ann did it
- **状态**：DONE
""",
    "a part of the whole": """
- Deploy DONE 3/5
- Deploy DONE (3/5)
""",
    "one of several fields": "- **Tracking:** DONE — script a | script b | run both",
    "a replaced value": """
- ~~npm~~ pnpm
- ~~5 EUR~~ 7 EUR
""",
    "a state that goes on": """
- ✅ ALLOWED to use npm
- ✅ LIVE at https://x.example
- Mission control UP ✅
- Backup runs daily at 2 ✅
- ✅ 可以直接使用
- ✅ Grupo funcionando
""",
    "the state of several parts": """
- Search ✅ and log ✅
- ✅ Search | ✅ log
""",
    "a caution": "- ✅ Chain proven ⚠ the check needs a subject",
    "a legend": """
- ✅ = done
- ✅ means done
### ✅ WHY BUY
- ✅ 为什么选它
""",
    "a named value": """
- Cap: 20 a day ✅
- **GitHub:** `a/b` ✅
- ✅ **Report**: x.example/report
""",
    "too long to judge": f"- {'word ' * 2000}DONE",
}


def lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line]


@pytest.mark.parametrize("room", ["lead", "marker", "pointer", "plan", "survey"])
def test_the_examples_of_the_compactor_run(room: str) -> None:
    assert not doctest.testmod(importlib.import_module(f"reverie_plugins.compactor.{room}")).failed


@pytest.mark.parametrize("line", lines(MOVES))
def test_a_finished_entry(line: str) -> None:
    assert terminal(line).status


@pytest.mark.parametrize(("reason", "line"), [(reason, line) for reason, text in STAYS.items() for line in lines(text)])
def test_an_entry_that_stays_and_why(reason: str, line: str) -> None:
    verdict = terminal(line)
    assert (verdict.status, verdict.reason) == ("", reason)


@pytest.mark.parametrize("word", WORDS)
def test_every_status_word_is_the_status(word: str) -> None:
    assert terminal(f"- rent the van {word}").status == terminal(f"- [x] rent the van {word}").status == word
    assert not terminal(f"- rent the van {word.lower()}").status


def test_there_are_fourteen_status_words() -> None:
    assert len(WORDS) == 14


@pytest.mark.parametrize("line", ["- [x] a", "- ✅ a", "- a ✅", "- ~~a~~"])
def test_a_sign_without_a_word_means_done(line: str) -> None:
    assert terminal(line).status == "DONE"


@pytest.mark.parametrize("body", ["  - [ ] b", "  1. [-] b", "text [ ] b", "  - TODO: b", "  **NEXT** b", "  - ⏳ b"])
def test_open_work_in_the_body_keeps_an_entry(body: str) -> None:
    assert terminal(f"- [x] a\n  - b\n{body}\n").reason in ("an open box", "open work in the body")


@pytest.mark.parametrize("body", ["  - [x] b", "  the next step was b", "  not DONE", "  - Never b"])
def test_only_the_lead_decides_otherwise(body: str) -> None:
    assert terminal(f"- [x] a\n{body}\n").status
    assert not terminal(f"- a\n{body}\n").status


def test_a_tick_under_a_heading_of_rules_says_do_it_so() -> None:
    assert terminal("- ✅ headless browser", ("Rules of the browser",)).reason == "under a heading of rules"
    assert terminal("- ✅ 无头浏览器", ("浏览器使用规则",)).reason == "under a heading of rules"
    assert terminal("- [x] headless browser", ("Rules of the browser",)).status


def test_a_tick_beside_a_cross_says_do_it_so() -> None:
    assert terminal("- ✅ headless browser", crossed=True).reason == "beside crosses"
    assert terminal("- [x] headless browser", crossed=True).status


@given(st.text(max_size=200))
def test_a_lead_is_taken_apart_without_loss_of_length(text: str) -> None:
    line = " ".join(text.split())
    assert len(view(line)) == len(line)
    assert all(seen in (BLOT, own) for seen, own in zip(view(line), line, strict=True))
    assert len(spoken(line)) <= len(line)
    assert line.endswith(read_lead(f"- {line}").text.rstrip("#")) or "#" in line


@given(st.text(st.sampled_from("- [x]✅~`*_DONE:|.()#\n é任\x00\ud800"), max_size=60))
def test_no_text_raises_and_what_is_moved_is_marked(text: str) -> None:
    verdict = terminal(f"- {text}")
    assert bool(verdict.status) != bool(verdict.reason)
    assert not verdict.status or POSSIBLE.search(text.split("\n")[0])
