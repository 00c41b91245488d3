"""What no reader of a page sees, or not at first: scripts, folds, what a server sends late."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, islice, takewhile
from typing import cast

from lxml.etree import XPath, strip_elements
from lxml.html import HtmlElement

from simhash_gate.page.elements import Elements, find_elements, is_hidden
from simhash_gate.page.measure import drop_all, note_step, size_of, text_in
from simhash_gate.page.title import Titles, text_of, words_of
from simhash_gate.page.vocabulary import CELLS, HEADINGS, INLINE, INVISIBLE, MEDIA

_SENT_LATE = re.compile(r"S:(\w+)$")
_FOLD = 60  # characters, mostly outside of links: less is a label, a menu or a message
_LABEL = 200  # characters: a question, or the name of a part
_NEAR = 20  # neighbours
_CONTROLLED = XPath("//@aria-controls", smart_strings=False)
_CONTROLS = ("form", "input", "textarea")
_LETTER = re.compile(r"[^\W\d_]")
_ICON_FONT = re.compile(r"\bmaterial-(?:icons|symbols)")
_ICON = re.compile(rf"{_ICON_FONT.pattern}|\bicons?(?:\s|$)")
_LIGATURE = re.compile(r"\s*[a-z][a-z0-9]*(?:_[a-z0-9]+)*\s*")


def unhide_content(root: HtmlElement, hidden: list[HtmlElement]) -> None:
    """Show what is hidden until a reader opens it, or a script has put it into its place."""
    kinds: dict[tuple[str, ...], list[HtmlElement]] = defaultdict(list)
    for element in hidden:
        kinds[(element.tag, *element.get("class", "").split()[:1])].append(element)
    hidden_set = set(hidden)
    controlled = cast("list[str]", _CONTROLLED(root)) if hidden else []
    opened = {name for names in controlled for name in names.split()}
    for kind, group in kinds.items():
        is_group = len(kind) > 1 and len(group) > 1
        for element in group:
            if _is_opened(element) or (
                hidden_set.isdisjoint(element.iterancestors())
                and _is_text(element)
                and (
                    element.get("id") in opened
                    or _is_pane(element)
                    or (is_group and _is_fold(element))
                )
            ):
                _show(element)
    _put_in_place([e for e in hidden if e.tag == "div" and "hidden" in e.attrib], root)


def _is_opened(element: HtmlElement) -> bool:
    """Tell if a control opens an element: a tab, or a fold of what is the page's own.

    for: the tabs of a product, and the closed sections of a handbook.
    """
    role = element.get("role")
    named = role == "region" or (role != "dialog" and "aria-labelledby" in element.attrib)
    return role == "tabpanel" or (
        named
        and any(
            ancestor.tag in ("article", "main") or ancestor.get("role") == "main"
            for ancestor in element.iterancestors()
        )
    )


def _is_text(element: HtmlElement) -> bool:
    """Tell if an element asks for nothing, and most of what it says is no link."""
    if element.get("role") == "dialog" or next(element.iter(*_CONTROLS), None) is not None:
        return False
    size = size_of(element)
    return size >= _FOLD and 2 * sum(map(size_of, element.iter("a"))) < size


def _is_pane(element: HtmlElement) -> bool:
    """Tell if a neighbour of the same class is shown: the first of some tabs.

    for: tabs that do not say what they are.
    """
    name = element.get("class", "").split()[:1]
    both = (islice(element.itersiblings(element.tag, preceding=b), _NEAR) for b in (True, False))
    alike = (e for e in chain(*both) if name and e.get("class", "").split()[:1] == name)
    return any(not is_hidden(e) and size_of(e) >= _FOLD for e in alike)


def _is_fold(element: HtmlElement) -> bool:
    """Tell if one of several alike is opened by what stands before it: an answer, a description.

    for: the answers of an FAQ.
    """
    label = element.getprevious()
    if label is None or is_hidden(label):
        return False
    return 0 < size_of(label) - sum(map(size_of, label.iter("style", "script"))) <= _LABEL


def _show(element: HtmlElement) -> None:
    for name in ("hidden", "style"):
        element.attrib.pop(name, None)


def _put_in_place(hidden: list[HtmlElement], root: HtmlElement) -> None:
    """Put what a server sent late into its place, as React's scripts do.

    It comes in a hidden box `S:n` at the end of the page; its place is the template `B:n` or `P:n`.
    for: articles that React sends as a stream.
    """
    pieces = [(box, found[1]) for box in hidden if (found := _SENT_LATE.match(box.get("id", "")))]
    places = {place.get("id"): place for place in root.iter("template")} if pieces else {}
    for box, number in pieces:
        place = places.get(f"B:{number}", places.get(f"P:{number}"))
        if place is not None:
            _show(box)
            if place not in box.iter("template"):
                box.tail = None
                place.addprevious(box)


_TEXT_INPUTS = frozenset({"email", "password", "search", "tel", "text", "url"})


def forms_to_fill_in(elements: Elements) -> set[HtmlElement | None]:
    """Return the forms with a field for words: in others a reader chooses."""
    return {
        next(field.iterancestors("form"), None)
        for field in chain(elements.by_tag["input"], elements.by_tag["textarea"])
        if field.get("type", "text") in _TEXT_INPUTS and not field.get("value", "").isdigit()
    }


_LABELLED = CELLS | {"dt"}
_QUESTION = ("?", "\uff1f", "\u061f", "\u037e")
_NEVER_SHOWN = INVISIBLE - {"noscript"}
_LONG_NOTE = 400  # letters: a plea to turn on scripts is shorter


def drop_invisible(
    root: HtmlElement, titles: Titles | None = None, elements: Elements | None = None
) -> None:
    """Take out what is no text of the page: scripts, styles, controls, pictures that are drawn.

    Of what is played, its sources are left. With titles, what is said to readers without scripts
    stays if it is the page.
    for: any page with scripts, forms or drawings.
    """
    found = (find_elements(root) if elements is None else elements).by_tag
    for template in found["template"]:
        if "shadowrootmode" in template.attrib:  # shown, unlike any other template
            template.tag = "div"
    for box in found["dialog"]:
        box.tag = "div" if "open" in box.attrib else box.tag
    _show_images(found)
    for menu in found["menu"]:
        menu.tag = "ul"
    _end_lines(found["pre"])
    _take_texts_of_controls(found)
    note_step(root.iter(*_NEVER_SHOWN - {"script", "style"}), rule="drop_invisible")
    strip_elements(root, *_NEVER_SHOWN, with_tail=False)
    tasks = {box: _task_in(box) for box in found["input"] if box.tag == "input"}
    # Where none is ticked, they are there to choose from.
    ticked = {"li"} | {task for box, task in tasks.items() if task and "checked" in box.attrib}
    drop_all([box for box, task in tasks.items() if task not in ticked], rule="drop_invisible")
    if found["noscript"]:
        if titles is not None:
            _show_if_the_page(found["noscript"], root, titles)
        note_step(root.iter("noscript"), rule="drop_invisible")
        strip_elements(root, "noscript", with_tail=False)
    for media in chain.from_iterable(found[tag] for tag in MEDIA):
        _leave_sources(media)


def _end_lines(codes: Iterable[HtmlElement]) -> None:
    """End the lines of code where only a style sheet ends them.

    for: code with a `span` for each line, as highlighters write it.
    """
    outer = (pre for pre in codes if next(pre.iterancestors("pre"), None) is None)
    for pre in outer:
        lines = [e for e in pre.iter("span", "code") if "line" in e.get("class", "").split()]
        ends = next(pre.iter("br"), None) is not None or "\n" in "".join(pre.itertext()).strip()
        if len(lines) > 1 and not ends:
            for line in lines[:-1]:
                line.tail = f"\n{line.tail or ''}"


def _show_images(found: Mapping[str, Sequence[HtmlElement]]) -> None:
    """Show images of AMP, and what readers without scripts get for an image that stands in.

    for: articles of AMP, and lazy images of a blog.
    """
    for image in found["amp-img"]:
        image.tag = "img"
        del image[:]
    for note in found["noscript"]:
        images = [e for e in note.iter("img") if not _is_pixel(e)]
        holder = note.getparent()
        if holder is None or holder.tag == "head" or not images or size_of(note):
            continue
        beside = [e for e in (note.getprevious(), note.getnext()) if e is not None]
        known = [image for box in beside for image in box.iter("img")]
        for image in images if not known else ():
            image.tail = None
            note.addprevious(image)
        for image in known[:1]:
            image.set("data-src", images[0].get("src", ""))


def _is_pixel(image: HtmlElement) -> bool:
    """Tell if an image counts readers, and shows nothing."""
    return not {image.get("width"), image.get("height")}.isdisjoint("01") or is_hidden(image)


def _take_texts_of_controls(found: Mapping[str, list[HtmlElement]]) -> None:
    """Leave of buttons what they are labelled with, as a value, if it is no text of the page.

    for: shops with a button at each product; not for an FAQ whose questions are buttons.
    """
    for button in found["button"]:
        if _is_question(button):
            button.tag = "div"
        else:
            note_step([button], rule="take_texts_of_controls")
            button.set("value", " ".join("".join(button.itertext()).split()))
            del button[:]
            button.text = None
    for box in found["input"]:
        if box.get("type") in ("submit", "button"):
            box.tag = "button"
    for field in found["textarea"]:
        if "readonly" in field.attrib and "</" not in (field.text or ""):  # nor to be embedded
            field.tag = "pre"


def _is_question(button: HtmlElement) -> bool:
    """Tell if a button is what a heading, a term or a cell says, opens what it asks, or is long."""
    holder = button.getparent()
    while holder is not None and holder.tag in INLINE:
        holder = holder.getparent()
    if holder is not None and (holder.tag in _LABELLED or holder.tag in HEADINGS):
        return size_of(holder) == size_of(button) > 0
    return size_of(button) > _LABEL or "".join(button.itertext()).rstrip().endswith(_QUESTION)


def _leave_sources(media: HtmlElement) -> None:
    """Take out what is within something that is played, but for its sources.

    for: videos that ask for another browser.
    """
    note_step([media], rule="leave_sources")
    sources = list(media.iter("source"))
    media.text, media[:] = None, sources
    for source in sources:
        source.text = source.tail = None
        del source[:]


def _show_if_the_page(notes: Collection[HtmlElement], root: HtmlElement, titles: Titles) -> None:
    """Show what is said to readers without scripts, if it is most of what a page says.

    A plea to turn them on is short, and has not the name of the page.
    for: threads of Discourse: the posts are there, and scripts fill the rest.
    """
    name = f" {' '.join(words_of(titles.title))} "
    outer = [note for note in notes if next(note.iterancestors("noscript"), None) is None]
    long_notes = [(note, size) for note in outer if (size := size_of(note)) >= _LONG_NOTE]
    whole = size_of(root) if long_notes and name.strip() else 0
    for note, size in long_notes if whole else ():
        words = words_of(" ".join(note.itertext()))
        if 2 * size > whole and name in f" {' '.join(words)} ":
            for inner in list(note.iter("noscript")):
                inner.tag = "div"


def _task_in(box: HtmlElement) -> str:
    """Return what a box to tick is in: an item, or a label that it begins; of forms, no label."""
    tags = [e.tag for e in box.iterancestors("li", "label", "form")]
    label = box.getparent()
    if box.get("type") != "checkbox" or label is None:
        return ""
    begins = label.tag == "label" and label[0] is box and not (label.text or "").strip()
    return "li" if "li" in tags else "label" if begins and "form" not in tags else ""


def permalinks(elements: Elements) -> list[HtmlElement]:
    """Return the links that lead to what they stand in, and say no word: `¶`, `#`, `§`.

    for: documentation, such as that by Sphinx.
    """
    return [
        link
        for link in elements.by_tag["a"]
        if (href := link.get("href", "")).startswith("#")
        and href != "#"  # of a menu, most of the time
        and not any(map(str.isalnum, text := "".join(link.itertext())))
        and text.strip()
        and any(href == f"#{e.get('id')}" for e in (link, *link.iterancestors()))
    ]


def edit_links(elements: Elements) -> list[HtmlElement]:
    """Return the boxes in and after headings that lead to where a part is edited.

    for: wikis such as MediaWiki, with `[edit]` in any language.
    """
    boxes: dict[HtmlElement, None] = {}
    for link in elements.by_tag["a"]:
        if "=edit" in link.get("href", ""):
            *_, box = (link, *takewhile(lambda e: e.tag in INLINE, link.iterancestors()))
            heads = [e for e in (box.getparent(), box.getprevious()) if e is not None]
            said = [sum(map(str.isalnum, text_in(part))) for part in (box, *box.iter("a"))]
            is_all = box is not link and 2 * said[0] == sum(said)  # the brackets are no link
            if is_all and any(head.tag in HEADINGS for head in heads):
                boxes[box] = None
    return list(boxes)


def drop_icons(elements: Elements) -> None:
    """Leave out the names of pictures that a font draws, such as `expand_more`.

    for: pages with Material icons.
    """
    for icon in chain.from_iterable(elements.by_tag[tag] for tag in ("i", "span", "mat-icon")):
        names = icon.get("class", "")
        if "icon" in names or "symbol" in names:
            name = icon.text or ""
            font = _ICON if "_" in name else _ICON_FONT
            if _LIGATURE.fullmatch(name) and font.search(names):
                note_step([icon], rule="drop_icons")
                icon.text = None


def label_panels(elements: Elements) -> None:
    """Put the label of each tab into its panel, before what that says.

    for: instructions with a tab for each system.
    """
    rows: list[tuple[HtmlElement, list[str], list[HtmlElement]]] = []
    gone: list[HtmlElement] = []
    for element in elements.tabs:
        if element.get("role") == "tablist":
            rows.append((element, [], []))
        elif rows:
            row, labels, panels = rows[-1]
            if element.get("role") == "tab":
                labels.append(text_of(element))
            else:
                panels.append(element)
            if len(labels) == len(panels):
                rows.pop()
                # What is around its panels is a row of folds; pictures that move have numbers.
                if row not in element.iterancestors() and all(map(_LETTER.search, labels)):
                    gone.append(row)
                    for panel, label in zip(panels, labels, strict=True):
                        first = next(filter(str.strip, panel.itertext()), "")
                        if not first.lstrip().startswith(label):
                            line = panel.makeelement("p")
                            line.text, line.tail, panel.text = label, panel.text, None
                            panel.insert(0, line)
    drop_all(gone, rule="label_panels")


def gutters(elements: Elements) -> list[HtmlElement]:
    """Return the table cells that hold nothing but the line numbers of the code beside them.

    for: code beside its line numbers, in a table of two cells.
    """
    cells = elements.by_tag["td"]
    holders: set[HtmlElement | None] = set()  # of code
    for pre in elements.by_tag["pre"] if cells else ():
        for ancestor in pre.iterancestors():
            if ancestor in holders:
                break
            holders.add(ancestor)
    return [
        cell
        for cell in cells
        if cell in holders
        and cell.getnext() in holders
        and all(line.isdigit() for text in cell.itertext() for line in text.split())
    ]
