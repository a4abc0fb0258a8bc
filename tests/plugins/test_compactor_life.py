"""Marked entries that live on: rules, what comes again, and labels that say something."""

from __future__ import annotations

import pytest

from reverie_plugins.compactor.plan import plan

LONG = ", and so on in enough words that a pointer in its place would be the shorter one of the two lines"


@pytest.mark.parametrize(
    "lead",
    [
        "- ✅ Never push to main on Friday afternoons",
        "- ✅ **Always** ask before a release",
        "- ✅ Do not open the kiln while it is warm",
        "- [x] **IMPORTANT**: the key is in the blue envelope",
        "- [x] REMEMBER the lamp in the hall",
        "- [x] weekly: water the plants",
        "- [x] every Monday: water the plants",
        "- [x] water the plants (repeat on Mondays)",
        "- Trip DONE, but still call the landlord",
        "- Certificate EXPIRED, needs renewing",
        "- [x] Müll hinausbringen, wiederholt sich am Montag",
    ],
)
def test_a_rule_or_a_thing_that_comes_again_stays(lead: str) -> None:
    text = f"# M\n\n{lead}{LONG}\n"
    assert plan(text, "2026-03-04").text == text


@pytest.mark.parametrize(
    ("lead", "label"),
    [
        ("- [DONE] painted the fence", "painted the fence"),
        ("- (DONE) painted the fence", "painted the fence"),
        ("- painted the fence [DONE]", "painted the fence"),
        ("- [x] painted the weekly notice board", "painted the weekly notice board"),
    ],
)
def test_a_finished_entry_leaves_with_a_name(lead: str, label: str) -> None:
    [moved] = plan(f"# M\n\n{lead}{LONG.replace(',', ';') if 'fence [' not in lead else ''}\n", "2026-03-04").finished
    assert moved.label.startswith(label)


def test_what_a_fence_says_of_its_language_is_no_marker() -> None:
    text = "# M\n\n- ```x DONE\n  code\n  ```\n- b\n"
    assert plan(text, "2026-03-04").text == text
