"""A parameter may say a part of another path."""

from __future__ import annotations

import struct

from simhash_gate.urls.active_rules import EVERY
from simhash_gate.urls.evidence import Evidence
from simhash_gate.urls.learner import Learner
from simhash_gate.urls.rules import Rule
from tests.urls.teaching import ENOUGH, HOME, SCRIPTED, SITE, TITLE, WIKI, evidence, teach


def test_what_a_parameter_says_may_be_a_part_of_another_path() -> None:
    """Of a page with two more parameters, that which makes it another one is found."""
    learner = Learner()
    printed = [f"{url}&printable=yes" for url in SCRIPTED]
    teach(learner, zip(printed[:20], WIKI[:20], strict=True))
    assert evidence(learner, TITLE).state == "active"
    learned = [learner.canonical(SITE, HOME + url) for url in (printed[50], SCRIPTED[50])]
    assert learned == [HOME + WIKI[50]] * 2
    told = [word for n in range(40) for word in (WIKI[n], f"{SCRIPTED[n]}&action=history")]
    for number, url in enumerate(told):
        words = struct.pack(">32H", *range(number * 40, number * 40 + 32))
        apart = {"fingerprint": number % 2 * (2**64 - 1), "said": bytes(8) + words}
        learner.observe(SITE, HOME + url, **apart)
    assert evidence(learner, TITLE).state == "active"
    history = evidence(learner, Rule("parameter", "action", "history"))
    assert (history.against > 10, history.support) == (True, 0)
    found = learner.rules_between(SITE, HOME + printed[50], HOME + WIKI[50])
    shape = f"{SITE}/index.php"
    assert found == ((shape, Rule("parameter", "printable", "yes")), (shape, TITLE))
    # Where it once says another path, it is left alone.
    teach(learner, [(SCRIPTED[60], WIKI[60])], same=False)
    assert evidence(learner, TITLE).state == "suspended"
    assert learner.canonical(SITE, HOME + SCRIPTED[50]) == HOME + SCRIPTED[50]


def test_what_a_parameter_says_may_be_added_to_a_path_that_another_one_says() -> None:
    """`/index.php?title=Links&of=X` is `/wiki/Links/X`."""
    learner = Learner()
    teach(learner, zip(SCRIPTED[:20], WIKI[:20], strict=True))
    names = [path.removeprefix("/wiki/") for path in WIKI]
    long = [(f"/index.php?title=Links&of={x}+on", f"/wiki/Links/{x}_on") for x in names]
    changes = teach(learner, long[:10])
    own = Rule("path", "of", "./*_*")
    assert [(each.shape, each.rule) for each in changes] == [(f"{SITE}/wiki/links", own)]
    assert learner.canonical(SITE, HOME + long[50][0]) == HOME + long[50][1]
    both = ((f"{SITE}/index.php", TITLE), (f"{SITE}/wiki/links", own))
    assert learner.reasons(SITE, HOME + long[50][0], HOME + long[50][1]) == both
    changes = teach(learner, long[60:61], same=False)
    assert [(each.shape, each.rule, each.state) for each in changes] == [
        (f"{SITE}/wiki/links", own, "suspended")
    ]
    assert evidence(learner, TITLE).state == "active"


def test_two_parameters_that_say_the_same_path_are_both_reasons() -> None:
    learner = Learner()
    learner.put(SITE, EVERY, TITLE, Evidence(word="pinned"))
    for mine, its in ("56", "65"):
        pairs = [(f"/index.php?x={n}{mine}", f"/index.php?x={n}{its}") for n in range(ENOUGH)]
        teach(learner, pairs)
    one, other = f"{HOME}/index.php?x=page-zz&title=page-zz", f"{HOME}/wiki/page-zz"
    assert learner.canonical(SITE, one) == other
    assert not learner.reasons(SITE, one, other)
