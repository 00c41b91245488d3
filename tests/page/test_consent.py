import pytest

from simhash_gate.page.clean import clean
from simhash_gate.page.parse import parse

PROSE = "<p>" + "The river rose overnight and the lower fields went under water. " * 8 + "</p>"
SAID = "<p>We use cookies. Read how in our <a href=/cookies>cookie notice</a>.</p>"
LAYER = f"<div class=cmplz-cookiebanner>{SAID}<button>Fine</button></div>"


def cleaned(body: str, title: str = "Floods") -> str:
    root = parse(f"<title>{title}</title><body>{body}</body>".encode())
    assert root is not None
    return " ".join(clean(root).body.text_content().split())


@pytest.mark.parametrize(
    "layer",
    [
        LAYER,
        f"<div><div>{LAYER}</div></div>",
        f"<div class=x1>{SAID}<a role=button href=#>Fine</a></div>",
        f"<div class=x1>{SAID}<a href='javascript:go()'>Fine</a></div>",
        f"<div class=x1>{3 * SAID}<p>Choose:</p><input type=checkbox> All of them</div>",
    ],
)
def test_what_asks_for_consent_goes_whatever_its_name(layer):
    assert "cookie" in LAYER
    for page in (f"{layer}{PROSE}", f"{PROSE}{layer}"):
        assert "cookie" not in cleaned(page).lower()
        assert "river rose" in cleaned(page)


@pytest.mark.parametrize(
    "text",
    [
        f"<main>{LAYER}</main>",
        f"<article>{LAYER}</article>",
        f"<div><div><div>{PROSE}{PROSE}<div>{LAYER}</div></div></div></div>",
        f"<div class=x1>{SAID}</div>",
        f"<div class=x1>{SAID}{PROSE}{PROSE}<button>Fine</button></div>",
        "<div class=x1><p>Cookies with nuts, and cookies without</p><button>Buy</button></div>",
    ],
)
def test_what_is_said_of_cookies_elsewhere_stays(text):
    assert "ookie" in cleaned(f"{PROSE}{text}")


LONG = "<p>The technical storage is needed for the service that was asked for by the user.</p>" * 30


def test_a_long_layer_is_known_by_its_own_name():
    for name, there in (("cmplz-cookiebanner-container", False), ("x1", True)):
        layer = (
            f"<div id={name}><div class=cmplz-manage>{SAID}{LONG}<button>Fine</button></div></div>"
        )
        assert ("technical storage" in cleaned(f"{layer}{PROSE}")) == there


def test_a_page_about_cookies_is_read():
    assert "cookie notice" in cleaned(f"<div class=x1>{SAID}<button>Fine</button></div>", "Cookies")
