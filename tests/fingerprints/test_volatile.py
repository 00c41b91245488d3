"""Lines about a page, its date and its readers, and what they say beside."""

import pytest

from simhash_gate.fingerprints.words import beside_date, is_of_page, is_volatile, words

VOLATILE = """
Updated 12:04
June 3rd, 2024
Stand: 03.06.2024
2024-06-03
2024年6月3日
1,234 views
27 Kommentare
3 hours ago
Advertisement
© 2024 The Paper. All rights reserved. No part may be reprinted without our written word.
By Ann Lee 02.12.2023 Updated 3 minutes ago · 78,397 views · 11 min read
作者 马国栋 10.08.2023 更新于 19 分钟前 · 54,654 次浏览
2024年5月1日 10:30 记者 张海燕 来源 新华社 阅读 300
قبل 40 دقيقة · 90,765 مشاهدة
"""
VOLATILE_OF_THE_PAGE = """
Printed from The Daily Miniature
(Redirected from Honey bee)
Source: Reuters
12 users online
"""
LASTING = """
Price: 19.99 EUR
Version 2.11.3 fixes this
Chapter 12
The ratio is 3:1
Adelaide wins the cup
From 3 June 2024 to 5 July 2024 the old bridge stays closed for all but walkers
It was on 3 June 2024 that the mayor of the town told everybody what he had done
The map was printed from a copper plate
The source of the river is a lake
Shops that sell to users online
自1968年起，张海燕审查了疫苗接种活动。自1965年起，张海燕批评了住房租赁条例。
発売日は2024年5月1日、2024年6月1日まで延長された。
"""


def test_lines_about_the_page_are_volatile_and_sentences_and_facts_are_not():
    def found(lines):
        return [line for line in lines.split("\n") if is_volatile(line, len(words(line)))]

    assert found(VOLATILE) == VOLATILE.strip().split("\n")
    assert found(VOLATILE_OF_THE_PAGE) == VOLATILE_OF_THE_PAGE.strip().split("\n")
    assert found(LASTING) == []


def test_where_a_page_was_printed_from_and_who_is_online_are_of_the_page():
    others = [line for line in VOLATILE_OF_THE_PAGE.strip().split("\n") if not is_of_page(line)]
    assert others == []
    assert [line for line in LASTING.split("\n") if is_of_page(line)] == []


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        ("By Ann Lee, 5 May 2019", ["ann", "lee"]),
        ("“We left on 5 May 2019!”", ["we", "left"]),
        ("市长于2019年辞职。", [*"市长于辞职"]),
        ("5 May 2019, 12 comments", []),
        ("12 comments", None),
        ("The cost, put at 9 million 2 weeks ago, rose.", None),
    ],
)
def test_of_a_line_that_tells_a_date_there_are_other_words(line, rest):
    assert beside_date(line) == rest
