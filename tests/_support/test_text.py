"""Text from outside never steers a terminal."""

import unicodedata

from unskew._support.text import listed, percent, shown, start, visible


def test_every_control_and_direction_character_is_escaped():
    unseen = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in ("Cc", "Zl", "Zp", "Cs")]
    turning = [chr(code) for code in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))]
    for character in unseen + turning:
        assert visible(character).isascii()
        assert visible(character).isprintable()
    assert visible("\x1b]8;;x\x07\u202e\udcff") == r"\x1b]8;;x\x07\u202e\udcff"


def test_what_people_write_stays_as_it_is():
    text = "Größe (cm) \\ 日本語 שלום مرحبا 👩‍👩‍👧 e\u0301"
    assert visible(text) == text


def test_whole_messages_keep_their_own_lines():
    assert visible("one\n\ttwo\r", keep="\n\t") == "one\n\ttwo\\r"
    assert visible("one\ntwo") == "one\\ntwo"


def test_names_and_values_of_messages_are_escaped():
    assert shown("a\x1b[31m") == r'"a\x1b[31m"'
    assert listed(["a\u202e", "b\n"]) == r'"a\u202e", "b\n"'
    assert start("x\x1b.csv") == r"x\x1b.csv: "


def test_percent():
    assert [percent(each) for each in (1, 0.5, 0.0994, 0.0996, 0.001)] == ["100 %", "50 %", "9.9 %", "10 %", "0.10 %"]
