"""What a thread says: its posts, and nothing of what stands around each."""

import re

import pytest

from simhash_gate import read_page

WORDS = "river rose lower fields under water boats lay grass noon gate"


NAMES = "Ada Ben Cleo Dora".split()


def said(number: int) -> str:
    """Return a post of its own: no two say the same in the same order."""
    words = WORDS.split()
    return " ".join(words[(number * step + step) % len(words)] for step in range(1, 40)) + "."


def post(number: int, name: str = "post") -> str:
    author = (
        f"<div class=who><b>Author</b> {NAMES[number]}<br>Joined: 2019<br>Posts: {number}7</div>"
    )
    when = f"<div class=when>#{number} · 12:0{number} today</div>"
    text = f"<div class=text><p>{said(number)}</p><p>{said(number + 5)}</p></div>"
    side = f"<div class=side>{when}{text}<div class=end>3 likes</div></div>"
    return f"<div class={name}>{author}{side}</div>"


def read(body: str, head: str = "", of: str = "") -> str:
    page = f"<html><head><title>Floods</title>{head}</head><body {of}>{body}</body></html>"
    return read_page(page.encode()).markdown


POSTS = "".join(map(post, range(4)))
ARTICLE = '<script type=application/ld+json>{"@type": "Article"}</script>'
JSON_LD = '<script type=application/ld+json>{"@type": "DiscussionForumPosting"}</script>'


@pytest.mark.parametrize(
    ("head", "of"),
    [
        (JSON_LD, ""),
        ("<meta name=generator content='Discourse 3.4'>", ""),
        ("", "id=phpbb"),
        ("", "itemscope itemtype=https://schema.org/DiscussionForumPosting"),
    ],
)
def test_a_thread_says_what_its_posts_say_in_order_and_nothing_around_them(head, of):
    markdown = read(f"<h1>Floods</h1>{POSTS}", head, of)
    assert [said(n) in markdown for n in range(4)] == [True] * 4
    assert markdown.index(said(0)) < markdown.index(said(3))
    assert markdown.index("Ada") < markdown.index(said(0)) < markdown.index("Ben")
    for around in ("Author", "Joined", "12:0", "likes"):
        assert around not in markdown


def test_who_said_what_is_known_where_machines_are_told_the_name():
    author = "<div itemprop=author><b itemprop=name>{}</b> Joined: 2019, posts: 17</div>"
    body = "".join(f"<div>{author.format(n)}<p>{said(len(n))}</p></div>" for n in NAMES)
    markdown = read(f"<h1>Floods</h1>{body}", JSON_LD)
    assert re.findall("Ada|Ben|Cleo|Dora|Joined", markdown) == NAMES


USER = "<a href=/u/{name}>{name}</a>"
TEXT = "<p>{text}</p>"
DATE = "<span>1{n} hours ago</span>"
BUTTONS = "<div><a href=#up>up</a> <a href=#re>reply</a></div>"
SOFTWARE = {
    "boxes": f"<div class=q7><div>{USER}<p>Senior</div><div class=z9>{DATE}{TEXT}</div></div>",
    "tables": (
        "<tr class=c><td><table><tr><td><img src=up.gif></td><td class=t>"
        f"<div>{USER} {DATE} | <a href=#n>up</a></div><div class=b5>{TEXT}</div></td></tr></table>"
    ),
    "lists": f"<li><div><b>{USER}</b> {DATE} | {BUTTONS}</div><div class=b5>{TEXT}</div></li>",
    "answers": (
        f"<div class=answer><div>{TEXT}</div><div><time>2026-01-0{{n}}</time><div itemprop=author>"
        f"{USER}<b itemprop=name>{{name}}</b> 1,2{{n}}9</div></div></div>"
    ),
}
ROUND = {
    "tables": "<table>{}</table>",
    "lists": "<ol>{}</ol>",
    "answers": "<div itemscope itemtype=https://schema.org/QAPage>{}</div>",
}


@pytest.mark.parametrize("software", SOFTWARE)
def test_who_said_what_is_known_in_threads_of_software_that_nobody_named(software):
    posts = [
        SOFTWARE[software].format(n=n, name=name, text=said(n)) for n, name in enumerate(NAMES)
    ]
    around = ROUND.get(software, "<div>{}</div>").format("".join(posts))
    markdown = read(f"<div><a href=/>Home</a> <a href=/b>Boards</a></div><h1>Floods</h1>{around}")
    assert re.findall("Ada|Ben|Cleo|Dora|hours|next|reply|1,2", markdown) == NAMES
    assert [said(n) in markdown for n in range(4)] == [True] * 4


def test_an_entry_with_a_page_of_its_own_keeps_its_date():
    entry = f"<div class=e><h2><a href=/{{n}}>Of {{n}}</a></h2><div>{USER} {DATE}</div>{TEXT}</div>"
    entries = (entry.format(n=n, name=name, text=said(n)) for n, name in enumerate(NAMES))
    assert read(f"<h1>Floods</h1>{''.join(entries)}").count("hours ago") == 4


def test_what_stands_around_parts_of_another_page_or_has_no_date_stays():
    assert "Joined: 2019" in read(f"<h1>Floods</h1>{POSTS}")
    parts = "".join(
        f"<div class=part><div class=name>Gate {'ABCD'[n]}</div><div><p>{said(n)}</p></div></div>"
        for n in range(4)
    )
    assert "Gate C" in read(f"<h1>Floods</h1>{parts}", JSON_LD)


def test_comments_are_the_posts_of_a_thread():
    comments = "".join(post(n, "comment") for n in range(4))
    page = f"<h1>Floods</h1>{{}}<div class=comments>{comments}</div>"
    assert said(8) in read(page.format(STORY), JSON_LD)
    assert said(8) not in read(page.format(STORY))
    assert said(8) in read(page.format(f"<p>{said(9)}</p>")), "a first post, and others"
    assert said(8) not in read(page.format(f"<p>{said(9)}</p>"), ARTICLE)


def test_comments_are_all_that_a_page_without_headings_says():
    comments = "".join(post(n, "comment") for n in range(4))
    link = "<div class=story><a href=/out>Floods</a><span>49 points</span></div>"
    assert said(8) in read(f"{link}<ol class=comments>{comments}</ol>")
    assert said(8) not in read(f"{link}{STORY}<div>{comments}</div>")


def card(number: int, more: str = "") -> str:
    picture = f"<img src={number}.jpg alt=''>"
    return f"<li class=card><a href=/{number}>{picture}Boat {number}</a> {number}9.90 €{more}</li>"


def test_what_stands_beside_entries_of_a_shop_is_said_of_them():
    cards = "".join(card(n, f"<p>{said(n)}</p>") for n in range(6))
    text = "Each carries two people, and the children of both, over all waters but the open sea."
    page = f"<div><h1>Boats</h1><ul>{cards}</ul></div><div><p>{text}</p></div>"
    markdown = read(page)
    assert "Boat 5" in markdown
    assert text in markdown
    assert "Each carries" not in read(page, "<meta property=og:type content=article>")


def test_an_article_of_one_product_has_no_other_products_and_no_reviews():
    reviews = "".join(
        f"<div class=review><span>1 May 202{n}</span><p>{said(n)}</p></div>" for n in range(4)
    )
    parts = "".join(f"<div class=part><p>{said(n + 7)}</p></div>" for n in range(3))
    cards = "".join(map(card, range(4)))
    page = f"<div><h1>Floods</h1>{parts}<ul>{cards}</ul><div>{reviews}</div></div>"
    product = "<meta property=og:type content=product>"
    assert [said(9) in read(page, product), said(2) in read(page, product)] == [True, False]
    assert ["Boat 2" in read(page, product), "Boat 2" in read(page)] == [False, True]


STORY = "".join(f"<p>{said(n)}</p>" for n in range(6))
REFRAIN = "The wheel turns round, the wheel turns round, and round it turns again at night"


@pytest.mark.parametrize("tag", ["blockquote", "div", "section class=refrain"])
def test_a_refrain_is_said_as_often_as_it_is_there(tag):
    refrain = f"<{tag}><p>{REFRAIN}.</p></{tag.split()[0]}>"
    verse = "<div class=verse><p>{}</p>{}</div>{}"
    for parts in (("", refrain), (refrain, "")):
        song = "".join(verse.format(said(n), *parts) for n in range(3))
        assert read(f"<h1>Floods</h1>{song}").count(REFRAIN) == 3


@pytest.mark.parametrize("copy", ["<div class=wide>{}</div>", "<blockquote>{}</blockquote>"])
def test_a_copy_for_another_screen_is_said_once(copy):
    text = f"<p>{REFRAIN}.</p>"
    page = f"<h1>Floods</h1>{STORY}<div class=narrow>{text}</div>{copy.format(text)}{STORY}"
    assert read(page).count(REFRAIN) == 1


def links(*hosts: str) -> str:
    items = (f"<li><a href='{h}/{n}'>A tool of number {n}</a></li>" for n, h in enumerate(hosts))
    return f"<h1>Floods</h1>{STORY}<ul>{''.join(items)}</ul>{STORY}"


def test_a_list_of_what_stands_on_other_sites_is_no_menu():
    hosts = [f"https://{name}.example" for name in "abcde"]
    assert "https://d.example/3" in read(links(*hosts))
    assert "A tool" not in read(links(*["https://a.example"] * 5)), "of one site"
    assert "A tool" not in read(links(*[""] * 5)), "of its own"
