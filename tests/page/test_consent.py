import pytest

from tests.page.pages import PROSE, cleaned

SAID = "<p>We use cookies. Read how in our <a href=/cookies>cookie notice</a>.</p>"
LAYER = f"<div class=cmplz-cookiebanner>{SAID}<button>Fine</button></div>"


@pytest.mark.parametrize(
    "layer",
    [
        LAYER,
        f"<div class=x1>{SAID}<a role=button href=#>Fine</a></div>",
        f"<div class=x1>{SAID}<a href='javascript:go()'>Fine</a></div>",
        f"<div class=x1>{3 * SAID}<p>Choose:</p><input type=checkbox> All of them</div>",
    ],
)
def test_what_asks_for_consent_goes_whatever_its_name(layer):
    for page in (f"<body>{layer}{PROSE}", f"<body>{PROSE}{layer}"):
        assert "cookie" not in cleaned(page).lower()
        assert "river rose" in cleaned(page)


@pytest.mark.parametrize(
    "text",
    [
        f"<main>{LAYER}</main>",
        f"<div><div><div>{PROSE}{PROSE}<div>{LAYER}</div></div></div></div>",
        f"<div class=x1>{SAID}</div>",
        f"<div class=x1>{SAID}{PROSE}{PROSE}<button>Fine</button></div>",
        "<div class=x1><p>Cookies with nuts, and cookies without</p><button>Buy</button></div>",
    ],
)
def test_what_is_said_of_cookies_elsewhere_stays(text):
    assert "ookie" in cleaned(f"<body>{PROSE}{text}")


def test_a_long_layer_is_known_by_its_own_name():
    long = "<p>The technical storage is needed for the service that the user asked for.</p>" * 30
    layer = f"<div class=cmplz-manage>{SAID}{long}<button>Fine</button></div>"
    named = f"<div id=cmplz-cookiebanner-container>{layer}</div>"
    assert "technical storage" not in cleaned(f"<body>{named}{PROSE}")
    assert "technical storage" in cleaned(f"<body>{layer}{PROSE}")


def test_a_page_about_cookies_is_read():
    layer = f"<body><div class=x1>{SAID}<button>Fine</button></div>"
    assert "cookie notice" in cleaned(layer, "Cookies")
