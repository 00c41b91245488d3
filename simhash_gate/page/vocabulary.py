"""The words of HTML that tell an article from what stands around it."""

from __future__ import annotations


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


HEADINGS = _set("h1 h2 h3 h4 h5 h6")
CELLS = _set("td th")
INLINE = _set("""
    a abbr acronym audio b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr
    q rp rt ruby s samp small source span strike strong sub sup time tt u var video wbr
""")
MEDIA = _set("audio video")
INVISIBLE = _set("""
    script style noscript template iframe svg button select textarea object embed applet
    canvas dialog datalist map frame link meta
""")

CHROME_TAGS = _set("nav aside form header footer")
CHROME_ROLES = _set("navigation complementary banner contentinfo search alert")
# Words of classes and ids, and of custom tags.
CHROME_TOKENS = _set("""
    nav navbar navigation subnav sitenav topnav menu submenu breadcrumb breadcrumbs
    sidebar sidebars widgetarea sphinxsidebar rightcol rightcolumn rightrail offcanvas
    toolbar topbar skip skiplink
    pagination pager paginator pagenav footer colophon masthead copyright gutter linenos
    ccbanner ccdiv ccwindow
""")
# What stands between the parts of an article as well: no part of it, in whatever wrapper.
EXTRA_TOKENS = _set("""
    ad ads adbox adslot adunit advert adverts advertisement advertisements advertising adsbygoogle
    adsense dfp gpt sponsor sponsors sponsored promo promos promotion outbrain taboola
    cookie cookies consent gdpr popup popups modal lightbox overlay
    share shares sharing sharebar social socials addthis addtoany sharethis
    newsletter newsletters subscribe subscription signup
    related recommended recommendations recommends readmore
    comment comments disqus respond commentlist commentform
    aboutauthor authorabout authorbio authorbox authorcard authordetails authorinfo authorprofile
""")
# Of both, what leads elsewhere or does something. Where paragraphs are in it, its name is that of
# its place or of a part.
MENU_TOKENS = _set("""
    nav navbar navigation subnav sitenav topnav menu submenu breadcrumb breadcrumbs
    offcanvas toolbar topbar skip skiplink pagination pager paginator pagenav copyright gutter
    linenos share shares sharing sharebar social socials promo promos promotion readmore
    signup subscription newsletter newsletters
""")
# And what is short: with more text, it is a box beside which there is such a thing.
SHORT_TOKENS = _set("skip skiplink gutter linenos readmore")
AD_LABELS = _set("""
    advertisement advertising advert sponsored promoted anzeige werbung publicité publicidad
    publicidade pubblicità advertentie annons annonse mainos reklam reklama реклама إعلان פרסומת
    विज्ञापन โฆษณา 広告 スポンサー 廣告 广告 赞助 贊助 광고
""")
CONSENT_TOKENS = _set("cookie cookies consent gdpr ccbanner ccdiv ccwindow")
OUTSIDE_TOKENS = CONSENT_TOKENS | _set("popup popups modal footer colophon")
# Of chrome, what the readers of a page write: it may be all of a page, and is on no other.
POST_TOKENS = _set("comment comments commentlist")
# Well-known software of forums: in its generator, or as the class or id of a page.
FORUMS = _set("""
    discourse flarum fluxbb invision ipsapp ipslayout mybb nodebb phpbb punbb simplemachines smf
    vanilla vbulletin woltlab xenforo
""")
# Whole classes and ids of columns: `has-sidebar` and `sidebar-fixed` are of what is beside one.
SIDES = _set("sidebar widget-area")
# `article-nav-title` and `has-sidebar` speak of an article that has such things.
CONTENT_HEADS = _set("""
    article body content contents main title heading headline text page layout entry post posts
    story wrapper wrap container code block highlight section
""")
PAGE_HEADS = _set("page layout main title heading headline text")
CONTENT_STARTS = _set("is not hide show category tag")
# `td-no-pagination` and `sidebar-off` speak of something else, which the page has or has not.
HAVING = _set("has with no without")
STATES = _set("off none enabled disabled")
LINK_LISTS = _set("ul ol dl div section")
# What no cell of a table of data holds.
LAYOUT = HEADINGS | _set("table ul ol dl pre blockquote")
# What text flows in: the container of these is an article, they are none.
FLOW = _set("p pre ul ol table dl blockquote figure")
LEAVES = FLOW | HEADINGS | INLINE | _set("header footer hgroup")
