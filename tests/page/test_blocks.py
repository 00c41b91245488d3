import pytest
from lxml import html

from simhash_gate.page.blocks import captions

IMAGES = "<a href=/1><img src=1.png></a><a href=/2><img src=2.png></a>"


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        (f"<figure>{IMAGES}<figcaption>Two bees</figcaption></figure>", ["Two bees"]),
        (f"<div>{IMAGES}<p>{'much more text ' * 20}</p></div>", []),
        (f"<div>{IMAGES}</div>", []),
    ],
)
def test_a_box_of_several_images_is_told_once(box, expected):
    article = html.fromstring(f"<article><p>Before</p>{box}<p>After</p></article>")
    assert [block.text for block in captions(article)] == expected
