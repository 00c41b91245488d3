"""Takes the boilerplate off a page's tree, in place: what stands around articles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from itertools import islice
from typing import NamedTuple

from lxml.etree import iterwalk
from lxml.html import HtmlElement

from simhash_gate.page.asides import is_thread, keep_name
from simhash_gate.page.boilerplate import (
    is_boilerplate,
    is_called,
    is_dated,
    is_hidden_or_search,
    is_misnamed,
    post_name,
)
from simhash_gate.page.consent import consent_layers
from simhash_gate.page.facts import Facts, find_facts
from simhash_gate.page.hidden import drop_invisible, forms_to_fill_in, gutters, unhide_content
from simhash_gate.page.measure import LARGEST, Measures, drop_all, forget
from simhash_gate.page.survey import Survey, boxes_of_data, drop_unseen, lines_of, survey
from simhash_gate.page.title import HEADLINES, Titles, find_titles, headlines_in, text_of, words_of
from simhash_gate.page.vocabulary import (
    AD_TOKENS,
    BOILERPLATE_TAGS,
    CONSENT_TOKENS,
    OUTSIDE_TOKENS,
    POST_TOKENS,
)

_FORMS = 0.2  # of the text outside of links that is left: in forms, more is no boilerplate
_SOME_TEXT = 20
_TIMES_READ = 8
_POST = 60  # characters outside of links
_POSTS_SHARE = 1 / 3  # of what posts say
_FIRST_POST = 2  # posts
_LEFT = 0.2  # of the text in a large box: with less than that left, the box was the page


class Cleaned(NamedTuple):
    """A page without its boilerplate: its tree, the size of every element in it, its titles.

    `thread` tells that it is a thread of a forum, `facts` what it says of itself. `size` is how
    many characters the page says, boilerplate and all, and `shown` all that it shows. `ads` are the
    lines of its advertisements, and `places` tell where each line stands.
    """

    root: HtmlElement
    body: HtmlElement
    measures: Measures
    listing: bool
    titles: Titles
    size: int
    shown: Survey
    thread: bool
    facts: Facts
    ads: set[str]
    places: list[int]


def clean(root: HtmlElement, titles: Titles | None = None, facts: Facts | None = None) -> Cleaned:
    """Remove the boilerplate from a page's tree."""
    facts = find_facts(root) if facts is None else facts
    titles = find_titles(root, "", facts) if titles is None else titles
    thread = is_thread(root, facts)
    drop_all(consent_layers(root, titles), rule="consent_layers")
    elements = facts.elements
    unhide_content(root, elements.hidden)
    text_forms = forms_to_fill_in(elements)
    drop_invisible(root, titles, elements)
    drop_all(gutters(elements), rule="gutters")
    body = root.find("body")
    body = root if body is None else body
    shown = survey(root)
    data = boxes_of_data(shown)
    drop_all(data, rule="boxes_of_data")
    if drop_unseen(root, shown.lines) or data:
        shown = survey(root)
    places = shown.places()
    measures = shown.measures
    size = measures.text[root]
    headline_path = _headline_path(elements.by_tag["h1"][:HEADLINES], titles)
    signed = thread or facts.kind == "forum"
    boilerplate = _Boilerplate(root, headline_path, measures, thread=thread, signed=signed)
    if not thread and facts.kind not in ("article", "product") and boilerplate.is_thread():
        thread = True
        boilerplate = _Boilerplate(root, headline_path, measures, thread=True, signed=True)
    boilerplate.drop(titles)
    _drop_forms(boilerplate.forms, text_forms, root, measures)
    _drop_large(boilerplate.large, root, measures, titles)
    listing = measures.is_listing(body)
    ads = {line for box in boilerplate.gone if is_called(box, AD_TOKENS) for line in lines_of(box)}
    return Cleaned(root, body, measures, listing, titles, size, shown, thread, facts, ads, places)


class _Boilerplate:
    """What is boilerplate in a tree, and what is left of it without that.

    `headline_path` is what the headline stands in. In a thread of a forum, what is called a comment
    is a post, and answers are `signed` as posts are. Of `large`, which is too large to be
    boilerplate, the outer ones come first, and of neighbours the last; `forms` are boilerplate if
    they are small, and `authors` but for a name.
    """

    def __init__(
        self,
        root: HtmlElement,
        headline_path: Collection[HtmlElement],
        measures: Measures,
        *,
        thread: bool,
        signed: bool,
    ) -> None:
        self._root = root
        self._headline_path = headline_path
        self._thread = thread
        self._signed = signed
        self._measures = measures
        whole = measures.text[root]
        self._largest = LARGEST * whole
        self._left_to_read = _TIMES_READ * whole  # boxes in boxes are read again for each
        self._outer: set[HtmlElement] = set()
        self._counts: Counter[str] = Counter()
        self.gone: list[HtmlElement] = []
        self.authors: list[tuple[HtmlElement, str]] = []
        self.large: list[HtmlElement] = []
        self.forms: list[HtmlElement] = []
        walk = iterwalk(root, events=("start",))
        for _, element in walk:
            if not is_boilerplate(element):
                continue
            if element.tag == "form" and not is_hidden_or_search(element):
                self.forms.append(element)
            elif not self._stays(element):
                walk.skip_subtree()

    def is_thread(self) -> bool:
        """Tell if posts with dates, called comments, are what the page is about.

        What is left beside them is a third of what they say, or no longer than two of them: the
        question, the first post.
        for: trackers and forums that do not say that they are one.
        """
        prose = self._measures.prose
        posts = [box for box in self.gone if prose(box) >= _POST and _is_post(box)]
        boxes = (box for post in posts for box in post.iter("*") if prose(box) >= _POST)
        named = Counter(filter(None, (post_name(box.get("class", "")) for box in boxes)))
        rest = prose(self._root) - sum(map(prose, self.gone))
        size = sum(map(prose, posts))
        share = max(_POSTS_SHARE, _FIRST_POST / max(named.values(), default=1))
        dated = sum(prose(box) for box in posts if is_dated(box)) if rest <= share * size else 0
        return 2 * dated > size

    def drop(self, titles: Titles) -> None:
        """Take out what is boilerplate, but for what is too large to be, and for posts of a thread.

        Of a page without a title that is nothing but boilerplate, that is what it says.
        """
        measures = self._measures
        size = sum(measures.text[box] for box in self.gone)
        head = sum(measures.text[head] for head in self._root.iter("head"))
        if not titles.title and size and size + head >= measures.text[self._root]:
            self.large, self.forms = [], []
        else:  # a link is as long as it was
            shrunk = [e for e in self.gone if next(e.iterancestors("a"), None) is None]
            forget(shrunk, measures)
            drop_all(self.gone, rule="is_boilerplate")
        for author, name in self.authors:
            keep_name(author, name, measures)

    def _name_counts(self) -> Counter[str]:
        """Return how many elements have each class; of a thread, where posts have footers, none."""
        if not self._counts and not self._thread:
            self._counts.update(e.get("class", "") for e in self._root.iter("*"))
        return self._counts

    def _stays(self, element: HtmlElement) -> bool:
        """Tell if an element stays that something says is boilerplate; if not, it goes."""
        size = self._measures.text[element]
        self._left_to_read -= size
        if self._thread and _is_post(element):
            return True
        if self._signed and element.get("itemprop") == "author":
            for name in (e for e in element.iter("*") if e.get("itemprop") == "name"):
                self.authors.append((element, text_of(name)))
                return False
        if self._left_to_read > 0 and is_misnamed(
            element, self._measures, self._headline_path, self._name_counts
        ):
            return True
        if size > self._largest:
            depth = sum(ancestor in self._outer for ancestor in element.iterancestors())
            self.large.insert(depth, element)
            self._outer.add(element)
            return True
        self.gone.append(element)
        return False


def _is_post(element: HtmlElement) -> bool:
    return element.tag not in BOILERPLATE_TAGS and is_called(element, POST_TOKENS)


def _headline_path(headlines: Iterable[HtmlElement], titles: Titles) -> set[HtmlElement]:
    """Return what the headline stands in, if it is the name of the page."""
    name = words_of(titles.title)
    found = (h1 for h1 in headlines if name and words_of(text_of(h1)) == name)
    return {ancestor for headline in found for ancestor in headline.iterancestors()}


def _drop_forms(
    forms: Collection[HtmlElement],
    text_forms: Collection[HtmlElement | None],
    root: HtmlElement,
    measures: Measures,
) -> None:
    """Take out forms to fill in, unless they say so much that they are what the page is about.

    Login and contact pages are, and in many shops what is said of a product. Where a reader only
    chooses, what there is to choose from is said.
    for: shops with the product in the order form; login and contact pages.
    """
    form_set = set(forms)
    outer = [form for form in forms if form_set.isdisjoint(form.iterancestors("form"))]
    if sum(measures.prose(form) for form in outer) <= _FORMS * measures.prose(root):
        largest = LARGEST * measures.text[root]
        small = [form for form in outer if measures.text[form] <= largest]
        by_class = Counter(form.get("class") for form in small)  # a form for each entry of a list
        gone = [form for form in small if form in text_forms or by_class[form.get("class")] > 1]
        drop_all(gone, measures, rule="drop_forms")
        for form in small:
            form.tag = "fieldset"


def _drop_large(
    large: list[HtmlElement], root: HtmlElement, measures: Measures, titles: Titles
) -> None:
    """Take out large boxes of a page of few words: larger than the article, and still a menu.

    What holds the headline is none, nor is that without which next to nothing is said.
    for: short pages under a long menu, or above a long footer.
    """
    if not large:
        return
    headlines = list(headlines_in(root, titles))
    named = bool(headlines)
    headlines = headlines or list(islice(root.iter("h1"), HEADLINES))
    headline_path = {ancestor for headline in headlines for ancestor in headline.iterancestors()}
    for element in large:
        size = measures.text[element]
        menu = measures.links[element] > 0.5 * size
        is_article = element in headline_path and (named or not is_called(element, CONSENT_TOKENS))
        if is_article or not (menu or is_called(element, OUTSIDE_TOKENS)):
            continue
        rest = measures.text[root] - size
        is_menu_tag = menu and element.tag in BOILERPLATE_TAGS and rest >= _LEFT * size
        is_small = measures.prose(root) >= 2 * measures.prose(element)
        if rest >= _SOME_TEXT and (headlines or is_menu_tag or is_small):
            drop_all([element], measures, rule="drop_large")
