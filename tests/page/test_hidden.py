"""What a page hides at first, and shows when a reader asks or a script has run."""

import pytest

from simhash_gate.pipeline import read_page
from tests.page.pages import PROSE, REPLY, cleaned

HIDDEN = pytest.mark.parametrize("how", ["hidden", "style='display: none'"])


def test_lines_of_code_end_that_a_style_sheet_ends():
    line = "<span class=line>{}</span>"
    code = f"<pre><code>{line.format('a = 1')}{line.format('b = 2')}</code></pre>"
    ended = [code.replace("</span><", f"</span>{end}<") for end in ("\n", "<br>")]
    for source in (code, *ended, code.replace("code>", "b>")):
        page = f"<title>T</title><h1>T</h1><p>See this:</p>{source}".encode()
        assert read_page(page).markdown.endswith("```\na = 1\nb = 2\n```")


@HIDDEN
def test_a_panel_of_tabs_and_what_fades_in_are_read_though_they_are_not_shown_at_first(how):
    shown = f"<div role=tabpanel>{PROSE}</div>"
    assert "1200 W" in cleaned(f"<body>{shown}<div role=tabpanel {how}>Power: 1200 W</div></body>")
    assert "1200 W" not in cleaned(f"<body>{shown}<div {how}>Power: 1200 W</div></body>")
    faded = "<div style='opacity: 0; visibility: hidden'>Power: 1200 W</div>"
    assert "1200 W" in cleaned(f"<body>{PROSE}{faded}</body>")


@HIDDEN
@pytest.mark.parametrize("opened", ["role=region", "aria-labelledby=question"])
def test_a_fold_of_the_article_is_read_though_it_is_closed(how, opened):
    fold = f"<section {opened} {how}>The dam is closed at four metres.</section>"
    assert "four metres" in cleaned(f"<body><main>{PROSE}{fold}</main></body>")
    assert "four metres" not in cleaned(f"<body>{PROSE}{fold}</body>")
    assert "four metres" not in cleaned(f"<body><main>{PROSE}<nav>{fold}</nav></main></body>")


@HIDDEN
def test_several_folds_alike_are_read_if_they_say_something(how):
    def folds(text: str, count: int = 2, more: str = "class=answer") -> str:
        one = f"<p>Why?</p><div {more} {how}>{{}}: {text}</div>"
        return cleaned(f"<body>{PROSE}{''.join(map(one.format, range(count)))}</body>")

    assert f"1: {REPLY}" in folds(REPLY)
    for other in (
        folds(REPLY, count=1),
        folds(REPLY, more=""),
        folds(REPLY, more="class=modal"),
        folds(REPLY, more="class=answer role=dialog"),
        folds(f"<a href=/>{REPLY}</a>"),
        folds(f"{REPLY}<input name=n>"),
        folds("Thank you."),
    ):
        assert "1:" not in other


@pytest.mark.parametrize("place", ["B:1", "P:1"])
def test_what_a_server_sent_late_is_read_where_it_belongs(place):
    late = "<div hidden id=S:1>The dam is closed.</div>"
    page = f"<main>Before. <template id={place}></template>After.</main>{late}"
    assert cleaned(f"<body>{page}</body>") == "Before. The dam is closed.After."
    assert "dam" not in cleaned(f"<body>{PROSE}<div hidden id=S:1>The dam</div></body>")


def test_a_template_is_read_where_browsers_show_it():
    box = "<river-level><template {}><p>Rising</p></template></river-level>"
    assert "Rising" in cleaned(f"<body>{box.format('shadowrootmode=open')}{PROSE}</body>")
    assert "Rising" not in cleaned(f"<body>{box.format('id=row')}{PROSE}</body>")


def test_the_sign_that_leads_to_its_own_heading_is_no_text():
    for sign, heading in (
        ("¶", "<section id=bees><h1>Bees{}</h1></section>"),
        ("#", "<h1 id=bees>Bees{}</h1>"),
        ("§", "<h1>Bees{}</h1>"),
    ):
        link = f"<a class=headerlink id=bees href='#bees'>{sign}</a>"
        page = read_page(f"<title>Bees</title>{heading.format(link)}<p>They fly.".encode())
        assert (page.title, page.markdown) == ("Bees", "# Bees\n\nThey fly.")
    note = "<p>They fly<a href='#note'>*</a>.</p><p id=note>Not in winter."
    assert "\\*" in read_page(f"<title>Bees</title><h1>Bees</h1>{note}".encode()).markdown


@pytest.mark.parametrize(
    ("heading", "read"),
    [
        ("<h2>Bees<span>[<a href='/w?action=edit&section=1'>edit</a>]</span></h2>", "Bees"),
        (
            "<div><h2>Bees</h2><span>[<a href='/w?veaction=edit'>Bearbeiten</a>"
            " | <a href='/w?action=edit'>Quelltext bearbeiten</a>]</span></div>",
            "Bees",
        ),
        ("<h2>All <a href='/w?action=edit&redlink=1'>bees</a></h2>", "All [bees]"),
        ("<h2><span>All <a href='/w?action=edit'>bees</a></span></h2>", "All [bees]"),
    ],
)
def test_what_leads_from_a_heading_to_its_editor_is_no_text(heading, read):
    markdown = read_page(f"<title>T</title><h1>T</h1>{PROSE}{heading}{PROSE}".encode()).markdown
    line = next(line for line in markdown.splitlines() if line.startswith("## "))
    assert line.removeprefix("## ").startswith(read)
    assert ("[" in line) == ("[" in read)
    assert "earbeiten" not in markdown


def test_a_menu_is_a_list():
    page = f"<title>T</title><h1>T</h1>{PROSE}<ul><li>Bees<menu><li>They fly.</menu></ul>".encode()
    assert read_page(page).markdown.endswith("- Bees\n  - They fly.")


def test_boxes_to_tick_are_read_in_items_and_where_one_in_a_label_is_ticked():
    box = "<p><label><input type=checkbox {}> Bees</label>"
    for source, read in (
        (box.format("checked") + box, "[x] Bees\n\n[ ] Bees"),
        (box + box, "Bees\n\nBees"),
        ("<p><label>Bees <input type=checkbox checked></label>", "Bees"),
        (f"<ul><li>{box.replace('<p>', '')}</ul>", "- [ ] Bees"),
    ):
        page = f"<title>T</title><h1>T</h1>{PROSE}{source}".encode()
        assert read_page(page).markdown.endswith(f"\n\n{read}")


def test_what_nobody_sees_of_a_text_is_none_of_it():
    for source, read in (
        ("hy\u00adphen, ze\u200bro and jo\u2060in", "hyphen, zero and join"),
        ("\u1780\u200b\u1781 and na\u200cme", "\u1780\u200b\u1781 and na\u200cme"),
        ("<i class=material-icons>search</i> for bees", "for bees"),
        ("<span class='icon big'> expand_more </span> bees", "bees"),
        ("a <span class=icon>rising</span> sun", "a rising sun"),
        ("a <span class=icon-label>snake_case</span>", "a snake\\_case"),
    ):
        page = f"<meta charset=utf-8><title>T</title><h1>T</h1>{PROSE}<p>{source}</p>".encode()
        assert read_page(page).markdown.splitlines()[-1] == read
    titled = read_page(f"<title>Mill&shy;rad</title><h1>Mill&shy;&#8203;rad</h1>{PROSE}".encode())
    assert (titled.title, titled.markdown.split("\n")[0]) == ("Millrad", "# Millrad")


@pytest.mark.parametrize(
    ("tabs", "read"),
    [
        ("<a role=tab>Moss</a><a role=tab>Ice</a>", True),
        ("<button role=tab aria-controls=a>Moss</button><b role=tab>Ice</b>", True),
        ("<b role=tab>1</b><b role=tab>2</b>", False),
        ("<b role=tab>It</b><b role=tab>It grows</b>", False),
    ],
)
def test_the_label_of_a_tab_stands_before_its_panel_unless_that_begins_with_it(tabs, read):
    panels = "".join(f"<div role=tabpanel><p>It grows {n}.</p></div>" for n in "ab")
    page = f"<title>T</title><h1>T</h1>{PROSE}<div role=tablist>{tabs}</div>{panels}{PROSE}"
    markdown = read_page(page.encode()).markdown
    assert ("Moss\n\nIt grows a.\n\nIce\n\nIt grows b." in markdown) == read
    assert ("It grows a.\n\nIt grows b." in markdown) != read


@pytest.mark.parametrize("tags", ["<noscript>", "<noscript><p>" * 50])
def test_what_is_said_without_scripts_is_read_once_if_it_is_the_page(tags):
    said = "".join(f"<p>The river rose by {n} centimetres on day {n}." for n in range(20))
    page = read_page(f"<title>The river</title><body>{tags}<h1>The river</h1>{said}".encode())
    assert page.markdown.count("on day 7.") == 1


@pytest.mark.parametrize(
    "button",
    [
        "<h3><button aria-expanded=false>{}</button></h3>",
        "<h3><span><button>{}</button></span></h3>",
        "<dl><dt><button>{}</button><dd>Only then.</dl>",
        "<table><tr><th>Key<th>Use<tr><td><button>{}</button><td>In winter</table>",
    ],
)
def test_a_button_says_what_its_heading_term_or_cell_does(button):
    assert "Frozen sluices" in cleaned(f"<body>{PROSE}{button.format('Frozen sluices')}</body>")


def test_what_is_pasted_for_readers_is_read_and_what_others_shall_embed_is_not():
    field = "<body>" + PROSE + "<textarea {}>{}</textarea>"
    assert "Frozen sluices" in cleaned(field.format("readonly", "Frozen sluices;"))
    assert "Frozen sluices" not in cleaned(field.format("", "Frozen sluices;"))
    assert "Frozen sluices" not in cleaned(field.format("readonly", "<p>Frozen sluices</p>"))


def test_a_button_that_asks_is_read_and_one_that_does_something_is_not():
    asks = "<div><button>Does the wheel turn?</button><div>It does.</div></div>"
    assert "Does the wheel turn?" in cleaned(f"<body>{PROSE}{asks}</body>")
    tool = "<h3>Frozen sluices <button>Copy the link</button></h3>"
    left = cleaned(f"<body>{PROSE}{tool}<p><button>Buy it now</button></p></body>")
    assert "Frozen sluices" in left
    assert "Copy" not in left
    assert "Buy" not in left


def test_what_is_hidden_until_it_is_found_and_an_open_dialog_are_shown():
    page = f"<title>T</title><h1>T</h1>{PROSE}<div hidden=until-found>{REPLY}</div>"
    assert REPLY in read_page(page.encode()).markdown
    for attribute, shown in (("open", True), ("", False)):
        page = f"<title>T</title><h1>T</h1>{PROSE}<dialog {attribute}><p>{REPLY}</p></dialog>"
        assert (REPLY in read_page(page.encode()).markdown) == shown
