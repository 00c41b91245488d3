import pytest
from lxml import html

from simhash_gate.page.invisible import drop_invisible
from simhash_gate.page.media import image_names, played_names


@pytest.mark.parametrize(
    ("image", "names"),
    [
        ("<img src=//cdn.example/a/bees.jpg?w=9#x>", "bees.jpg"),
        ("<img src=bees-300x200.jpg><img src=300px-moss.png>", "bees.jpg moss.png"),
        ("<img src=ice@2x.gif><img src=ice_640w.gif><img src=ice-scaled.gif>", "ice.gif"),
        ("<img src=bees-1.jpg><img src=bees-2.jpg>", "bees-1.jpg bees-2.jpg"),
        ("<img srcset='/w_3,h_2/bees.jpg 1x,ice.jpg 2x, moss.jpg'>", "bees.jpg ice.jpg moss.jpg"),
        ("<img src=grey.gif data-src=bees.jpg>", "bees.jpg"),
        ("<img src='data:image/gif;base64,R0lGOD/x' srcset='data:,x'>", ""),
        ("<picture><source srcset='a.avif, b.avif 2x'><img src=a.jpg></picture>", "a.jpg b.avif"),
        ("<video src=bees.mp4 poster=bees.jpg></video>", "bees.jpg"),
    ],
)
def test_images_are_known_by_their_names(image, names):
    assert image_names(html.fromstring(f"<div><p>Bees</p>{image}</div>")) == names.split()


def test_of_what_is_played_the_sources_are_left():
    body = html.fromstring(
        "<div>one <video data-src=a.mp4><source src=b.webm><source src=c-720p.mp4>"
        "<p>Get another browser<img src=x.png></video> two <audio src=blob:9><video src=d.ogg>"
        "<source src=e.ogv>no</video>no</audio> three</div>"
    )
    drop_invisible(body)
    assert " ".join("".join(body.itertext()).split()) == "one two three"
    assert played_names(body) == ["a.mp4", "b.webm", "c.mp4", "e.ogv"]
    assert image_names(body) == []
