"""What is a relative time, in many languages, and what is content."""

import subprocess
import sys

import pytest

from simhash_gate.fingerprints.relative_times import AGO, without_relative_times
from simhash_gate.fingerprints.words import words


def read(text: str, **how: bool) -> str:
    return " ".join(without_relative_times(words(text), **how))


@pytest.mark.parametrize(
    "text",
    """3 hours ago|1 day ago|3h ago|3 hrs ago|an hour ago|two days ago|yesterday
    vor 3 Stunden|vor 1 Tag|vor einer Stunde|vorgestern|il y a 3 heures
    il y a un an|hace 1 día|hace una hora|3 ore fa|un giorno fa|ieri|há 3 horas|3 dias atrás
    3 uur geleden|3 godziny temu|5 godzin temu|dzień temu|3 часа назад|5 часов назад|час назад
    3時間前|1日前|昨日|3小时前|昨天|3小時前|3시간 전|3 시간 전|어제|3 saat önce|dün
    för 3 timmar sedan|i går|for 3 timer siden|3 tuntia sitten|před 3 hodinami|před dnem
    pred 3 dňami|منذ 3 ساعات
    منذ ٣ ساعات|منذ يوم|قبل 3 ساعات|לפני 3 שעות|πριν από 3 ώρες|3 giờ trước|3 jam yang lalu
    acum 3 ore
    3 órával ezelőtt|преди 3 часа|3 години тому|prije 3 sata|pre 3 sata|prieš 5 valandų
    pred 3 urami|fa 3 hores|3 tunni eest|pirms 3 stundām|3 ชั่วโมงที่ผ่านมา|3 घंटे पहले
    3 ঘন্টা আগে|3 ساعت پیش|3 saat öncə|3 uur gelede""".replace("\n    ", "|").split("|"),
)
def test_a_relative_time_is_one_token(text: str) -> None:
    assert read(text) == AGO


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Published 3 hours ago", "published <ago>"),
        ("By Ann Lee · 3 days ago · 5 min read", "by ann lee <ago> 5 min read"),
        ("Veröffentlicht vor 3 Tagen von Ann", "veröffentlicht <ago> von ann"),
        ("45 minutes, 3 days ago", "45 minutes <ago>"),
        ("Ann vor 3 Stunden, Bea vor 5 Minuten", "ann <ago> bea <ago>"),
        ("Ann vor 3 Stunden, vor 5 Minuten", "ann <ago> <ago>"),
    ],
)
def test_other_words_stay(text: str, rest: str) -> None:
    assert read(text) == rest


@pytest.mark.parametrize(
    "text",
    [
        "in 3 days",
        "tomorrow",
        "3 days",
        "3 h",
        "Cancel up to 3 days before departure",
        "bis 3 Tage vor Anreise",
        "Boil for 5 min",  # "for 5 min" is Danish, too
        "14:00 EEST",  # "eest" is Estonian "ago"
        "9시 전 도착",  # before nine o'clock
        "前年比",
        "By Jana and Leo",  # yesterday and today in Swahili
        "कल",  # yesterday, and tomorrow
        "last month",
        "il y a 3 kilomètres",
        "a day in March",
    ],
)
def test_content_stays(text: str) -> None:
    assert AGO not in read(text)


@pytest.mark.parametrize("text", ["3h", "1d", "5m", "2w", "3 Std.", "3 ч", "3時間", "3 uur"])
def test_a_duration_is_a_relative_time_if_the_caller_says_so_and_nothing_else_is_there(text: str):
    assert read(text, alone=True) == AGO
    assert AGO not in read(text)
    assert AGO not in read(f"{text} max", alone=True)


def test_the_parser_is_not_loaded() -> None:
    code = "from simhash_gate.fingerprints import relative_times as it; it.weekdays()"
    told = "import sys; print({'dateparser', 'regex'} & sys.modules.keys())"
    assert (
        subprocess.check_output([sys.executable, "-c", f"{code}\n{told}"], text=True) == "set()\n"
    )
