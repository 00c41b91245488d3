"""Where an image is: what scripts and browsers show, and not what stands in until then."""

import pytest

from simhash_gate import read_page

DATA = "data:image/gif;base64,R0lGODlhAQABAAAAACw="
CDN = "https://cdn.example/w_100,c_fill/bees.jpg"


@pytest.mark.parametrize(
    "image",
    [
        f"<img src={CDN}>",
        f"<img src={CDN} srcset='{CDN.replace('100', '200')} 200w, /small.jpg 20w'>",
        f"<img srcset='{CDN} 1x, /large.jpg 2x'>",
        f"<img src={DATA} data-actualsrc={CDN}>",
        f"<img src=/blank.gif data-original={CDN}>",
        f"<img src={DATA} data-lazy=true data-hi-res={CDN}>",
        f"<img src={DATA} data-delayed-url=https://cdn.example/w_100,c_fill/bees.jpg>",
        f"<img src={DATA} data-lazy-srcset='{CDN} 1x, /large.jpg 2x'>",
        f"<img nitro-lazy-src={CDN}>",
        f"<picture><source srcset='{CDN} 1x, /b.jpg 2x'><img src={DATA}></picture>",
        f"<img src={DATA} class=lazy><noscript><img src={CDN}></noscript>",
        f"<img src=/blank.gif loading=lazy><noscript><img src={CDN}></noscript>",
        f"<noscript><img src={CDN}></noscript><span class=placeholder></span>",
        f"<amp-img src={CDN} width=9><img placeholder src=/blank.gif></amp-img>",
        f"<amp-img src={CDN}><noscript><img src={CDN}></noscript></amp-img>",
        f"<img src={CDN}><noscript><img src={CDN}></noscript>",
        f"<img src={CDN}><noscript><img src=https://count.example/?id=3 width=1></noscript>",
    ],
)
def test_an_image_is_shown_once_and_whole(image):
    page = f"<title>Bees</title><h1>Bees</h1><p>They live here. {image}</p>"
    markdown = read_page(page.encode(), url="https://a.example/").markdown
    assert markdown == f"# Bees\n\nThey live here. ![]({CDN})"
