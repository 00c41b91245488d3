"""Pages of which only the same line of the site's chrome was read: their titles tell them apart."""

import pytest

from simhash_gate import Gate, Policy, open_store, read_page
from simhash_gate.gate.judge import MOST_LOOKS

MENU = "".join(f"<ul class=menu><li><a href=/{n}>Hats and gloves {n}</a></ul>" for n in range(120))
DELIVERY = (
    "We send it to you for free if you pay us more than ten or so. You may send it back to us in "
    "ten days or so. We are open from six to ten. You may ring us up at any time of the day or so."
)


@pytest.fixture
def judged(request):
    verify = request.param
    store = open_store("memory:")
    store.begin("now")
    gate = Gate(store, run="now", pipeline="v1")

    def judge(path, title, menu=MENU):
        html = f"<html><title>{title}</title><body>{menu}<div><p>{DELIVERY}</p></div></body></html>"
        url = f"https://example.com{path}"
        page = read_page(html.encode(), url=url)
        return gate.judge(page, Policy(verify=verify), url=url).outcome

    yield judge
    store.close()


both = pytest.mark.parametrize("judged", [False, True], ids=["plain", "verify"], indirect=True)


@both
def test_a_copy_is_found_among_any_number_of_pages_of_which_the_same_is_left(judged):
    for number in range(2 * MOST_LOOKS):
        assert judged(f"/{number}", f"Hat {number} | Shop") != "duplicate"
    assert judged("/0?from=mail", "Hat 0 | Shop") == "duplicate"


@both
def test_pages_of_other_titles_are_no_copies(judged):
    assert judged("/a", "Hats | The old shop of London") == "new"
    assert judged("/b", "Gloves | The old shop of London") != "duplicate"
    assert judged("/c", "Your basket | Shop", menu=MENU[: len(MENU) // 8]) != "duplicate"
    assert judged("/d", "") != "duplicate"
