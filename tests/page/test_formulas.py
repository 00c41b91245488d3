"""Formulas as programs write them: once, as TeX where the page has it."""

import pytest

from simhash_gate import read_page

MATH = "<math><semantics><msup><mi>x</mi><mn>2</mn></msup>{}</semantics></math>"
STYLED = r"{\displaystyle x^2}"
SOURCE = '<annotation encoding="application/x-tex">x^2</annotation>'
KATEX = f"""<span class=katex><span class=katex-mathml>{MATH.format(SOURCE)}</span><span
    class=katex-html aria-hidden=true><span class=base>x2</span></span></span>"""
MATHJAX = "<mjx-container class='MathJax CtxtMenu_Attached_0' {}>{}</mjx-container>"
ASSISTIVE = f"<mjx-assistive-mml>{MATH.format('')}</mjx-assistive-mml>"


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (KATEX, "$x^2$"),
        (f"<span class=katex-display>{KATEX}</span>", "$$x^2$$"),
        (MATH.format(SOURCE), "$x^2$"),
        ("<math alttext='x^2' display=block><mi>x</mi></math>", "$$x^2$$"),
        (MATHJAX.format("", f"<mjx-math></mjx-math>{ASSISTIVE}"), "x<sup>2</sup>"),
        (
            "<span class=mwe-math-element><span style='display: none'>"
            f"{MATH.format(SOURCE.replace('x^2', STYLED))}</span>"
            "<img src=/x.svg class=mwe-math-fallback-image alt='x'></span>",
            "$x^2$",
        ),
        ("<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>", "1/2"),
        ("<img class=math src=/a.png alt='A class'>", "![A class](https://a.example/a.png)"),
    ],
)
def test_a_formula_is_said_once(formula, expected):
    page = f"<title>Powers</title><h1>Powers</h1><div>They say that {formula} grows.</div>"
    markdown = read_page(page.encode(), url="https://a.example/").markdown
    assert markdown == f"# Powers\n\nThey say that {expected} grows."


def test_an_article_that_is_called_after_formulas_is_none():
    said = f"<div class=math><p>It is {KATEX} here.</p><p>It is {KATEX} there.</p></div>"
    markdown = read_page(f"<title>Powers</title><h1>Powers</h1>{said}".encode()).markdown
    assert markdown == "# Powers\n\nIt is $x^2$ here.\n\nIt is $x^2$ there."


def test_what_a_script_would_draw_is_a_formula():
    said = r"<p>Of \(x_1\), <b>x</b> \[y * 2\] and $$z$$ <code>\(c\)</code>, $5 or \(6.</p>"
    head = "<title>Powers</title><script src=/mathjax@3/tex.js></script>"
    shown = r"Of $x_1$, **x** $$y * 2$$ and $$z$$ `\(c\)`, $5 or \\(6."
    assert read_page(f"{head}<h1>Powers</h1>{said}".encode()).markdown == f"# Powers\n\n{shown}"
    plain = read_page(f"<title>Powers</title><h1>Powers</h1>{said}".encode()).markdown
    assert r"\\(x\_1\\)" in plain


def test_a_bar_in_a_formula_ends_no_cell():
    row = "<tr><td>a<td><math alttext='|x|'></math></table>"
    markdown = read_page(f"<title>T</title><h1>T</h1><table><tr><th>b<th>c{row}".encode()).markdown
    assert markdown.endswith("| a | $\\|x\\|$ |")
