"""Addresses of links, and the names of what is shown and played."""

from itertools import product
from urllib.parse import urljoin

import pytest
from lxml import html

from simhash_gate.page.address import Base, file_addresses, image_files, media_files
from simhash_gate.page.hidden import drop_invisible

PATHS = ["x", "x/", "x.html", "a/b-c/d_e.f", "%20", "..x", "a..", "a//b", "./x", "a/../b", "a/./b"]
LEADS = ["", "/", "//", "../", "../../", "../../../../", "./", "http://h/", "https://h:8/", "x:"]
ENDS = ["", "?q=1&r=/s:t", "#f", "#f(a,b)", "?a=b;c#d/e.f", "?", "#", ";p", "?a#b#c"]
ALONE = ["#f", "#", "#a/../b", "#f(a;b)", "?q", "?", "/", "..", ".", "http://h", "https://h?q#f"]
HREFS = [*map("".join, product(LEADS, PATHS, ENDS)), *ALONE]


@pytest.mark.parametrize(
    "base",
    [
        "https://example.org/a/b/c.html?q=1#z",
        "http://example.org",
        "https://example.org/a/../b/./c",
        "about:blank",
        "",
    ],
)
def test_addresses_become_absolute_as_urljoin_makes_them(base):
    join = Base(base).absolute
    assert {href: join(href) for href in HREFS} == {href: urljoin(base, href) for href in HREFS}


def test_what_is_no_address_leads_nowhere_and_with_no_base_links_stay_as_they_are():
    join = Base("https://example.org/").absolute
    for href in (None, "", " ", "javascript:x()", " Data:x", "http://[x"):
        assert join(href) is None, href
    join = Base("http://[x").absolute
    assert [join(href) for href in ("a/b", "#f", "/a", "../a")] == ["a/b", "#f", "/a", "../a"]


@pytest.mark.parametrize(
    ("image", "names"),
    [
        ("<img src=//cdn.example/a/bees.jpg?w=9#x>", "/a/bees.jpg"),
        ("<img src=bees.jpg><img src=../b/bees.jpg>", "/b/bees.jpg /hive/bees.jpg"),
        ("<img src=/show?id=5&w=9><img src=/show?id=6>", "/show?id=5& /show?id=6"),
        ("<img src=/bees-300x200.jpg><img src=/300px-moss.png>", "/bees.jpg /moss.png"),
        ("<img src=/ice@2x.gif><img src=/ice_640w.gif><img src=/ice-scaled.gif>", "/ice.gif"),
        ("<img src=/bees-1.jpg><img src=/bees-2.jpg>", "/bees-1.jpg /bees-2.jpg"),
        ("<img srcset='/w_3,h_2/ice.jpg 1x,/90x60/ice.jpg 2x, /moss.jpg'>", "/ice.jpg /moss.jpg"),
        ("<img src=grey.gif data-src=/bees.jpg>", "/bees.jpg"),
        ("<img src='data:image/gif;base64,R0lGOD/x' srcset='data:,x'>", ""),
        (
            "<picture><source srcset='/a.avif, /b.avif 2x'><img src=/a.jpg></picture>",
            "/a.jpg /b.avif",
        ),
        ("<p style='color: red; background: #fff url(\"/bees.jpg\")'>Bees</p>", "/bees.jpg"),
    ],
)
def test_images_are_known_by_their_addresses(image, names):
    page = html.fromstring(f"<div><p>Bees</p>{image}<!-- style --></div>")
    assert image_files(page, "https://bees.example/hive/") == names.split()


def test_of_what_is_played_the_sources_are_left():
    body = html.fromstring(
        "<div>one <video data-src=a.mp4><source src=b.webm><source src=c-720p.mp4>"
        "<p>Get another browser<img src=x.png></video> two <audio src=blob:9><video src=d.ogg>"
        "<source src=e.ogv>no</video>no</audio> three</div>"
    )
    drop_invisible(body)
    assert " ".join("".join(body.itertext()).split()) == "one two three"
    assert media_files(body) == ["a.mp4", "b.webm", "c.mp4", "e.ogv"]
    assert image_files(body) == []


@pytest.mark.parametrize(
    ("link", "addresses"),
    [
        ("href=/files/bees.pdf", ["/files/bees.pdf"]),
        ("href=../files/bees.pdf", ["/files/bees.pdf"]),
        ("href='https://cdn.example/a/bees.zip?signature=9#p3'", ["/a/bees.zip"]),
        ("href=//cdn.example/bees.mp3", ["/bees.mp3"]),
        ("href=bees.csv.gz", ["/hive/bees.csv.gz"]),
        ("href='get.php?file=bees.docx'", ["/hive/get.php?file=bees.docx"]),
        ("href=/get?id=5 download", ["/get?id=5"]),
        ("href=/bees.html", []),
        ("href=/bees.jpg", []),
        ("href=mailto:queen@bees.pdf", []),
        ("href=/bees.aspx?id=5", []),
        ("href=/bees/", []),
        ("href=/bees.xml", []),
        ("href=/release/1.5", []),
        ("href=https://bees.example", []),
        ("href=https://bees.example?x", []),
        ("href='javascript:save(\"a.pdf\")' download", []),
        ("name=a.pdf", []),
    ],
)
def test_files_are_known_by_their_ending_or_as_downloads(link, addresses):
    links = html.fromstring(f"<p><a {link}>Bees</a></p>").iter("a")
    assert sorted(file_addresses(links, "https://bees.example/hive/")) == addresses
