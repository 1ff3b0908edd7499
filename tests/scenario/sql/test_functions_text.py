"""String functions, by MySQL's manual and TiDB's source."""

from __future__ import annotations

import pytest

from tests.scenario.sql.expressions import LAX, result_text, value_of
from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.values.sql_value import SQLMode

_CI = "collate utf8mb4_general_ci"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ascii('2')", "50"),
        ("ascii('')", "0"),
        ("ascii('dx')", "100"),
        ("ord('中')", str(0xE4B8AD)),
        ("bit_length('text')", "32"),
        ("char(77, 121, null, 83)", "0x4d7953"),
        ("char(77, 121 using utf8mb4)", "My"),
        ("char(256)", "0x0100"),
        ("concat_ws(',', 'a', null, 'b')", "a,b"),
        ("concat_ws(null, 'a', 'b')", None),
        ("concat_ws('-', 2020, 1.50)", "2020-1.50"),
        ("elt(1, 'Aa', 'Bb')", "Aa"),
        ("elt(3, 'Aa', 'Bb')", None),
        ("elt(2, null, 'Bb')", "Bb"),
        ("export_set(5, 'Y', 'N', ',', 4)", "Y,N,Y,N"),
        ("export_set(6, '1', '0', ',', 10)", "0,1,1,0,0,0,0,0,0,0"),
        ("field('Bb', 'Aa', 'Bb', 'Cc')", "2"),
        ("field('Gg', 'Aa', 'Bb')", "0"),
        ("field(null, null)", "0"),
        ("field(2, '1', '2.0')", "2"),
        (f"field('b' {_CI}, 'A', 'B')", "2"),
        ("find_in_set('b', 'a,b,c,d')", "2"),
        ("find_in_set('', 'a,,c')", "2"),
        ("find_in_set('x', '')", "0"),
        ("format(12332.123456, 4)", "12,332.1235"),
        ("format(12332.1, 4)", "12,332.1000"),
        ("format(12332.2, 0)", "12,332"),
        ("format(1234.5, 2, 'de_DE')", "1,234.50"),  # TiDB warns of an unknown locale
        ("format(1234.5, 2, null)", "1,234.50"),
        ("weight_string('ab' as char(3))", "0x6162"),  # without the blanks at the end
        ("weight_string('abcd' as char(3))", "0x616263"),
        (f"weight_string('ab' {_CI} as char(1))", "0x0041"),
        ("weight_string('日' as binary(4))", "0xe697a500"),
        ("weight_string('abcd' as binary(2))", "0x6162"),
        ("weight_string(1 as char(3))", None),
        ("format(-1234567.891, 2)", "-1,234,567.89"),
        ("hex('abc')", "616263"),
        ("hex(255)", "FF"),
        ("hex(-1)", "FFFFFFFFFFFFFFFF"),
        ("hex(x'0a0B')", "0A0B"),
        ("unhex('4D7953514C')", "0x4d7953514c"),
        ("unhex('F')", "0x0f"),
        ("unhex('GG')", None),
        ("insert('Quadratic', 3, 4, 'What')", "QuWhattic"),
        ("insert('Quadratic', -1, 4, 'What')", "Quadratic"),
        ("insert('Quadratic', 3, 100, 'What')", "QuWhat"),
        ("instr('foobarbar', 'bar')", "4"),
        ("instr('xbar', 'foobar')", "0"),
        ("instr('中文', '文')", "2"),
        ("left('foobarbar', 5)", "fooba"),
        ("left('abc', -1)", ""),
        ("left('中文字', 2)", "中文"),
        ("left(x'616263', 2)", "0x6162"),
        ("right('foobarbar', 4)", "rbar"),
        ("right('ab', 5)", "ab"),
        ("right('ab', 0)", ""),
        ("locate('bar', 'foobarbar')", "4"),
        ("locate('bar', 'foobarbar', 5)", "7"),
        ("locate('', 'abc')", "1"),
        ("locate('b', 'abc', 0)", "0"),
        ("locate('B', 'abc')", "0"),
        (f"locate('B', 'abc' {_CI})", "2"),
        ("position('bar' in 'foobarbar')", "4"),
        ("locate('SS', 'xß' collate utf8mb4_unicode_ci)", "2"),
        ("locate('st', 'ßt' collate utf8mb4_unicode_ci)", "2"),
        ("locate('ss', 'ß' collate utf8mb4_unicode_ci)", "1"),
        ("locate('ss', 'ß' collate utf8mb4_unicode_ci, 1)", "0"),
        ("locate('\u0301', 'abc' collate utf8mb4_unicode_ci)", "1"),
        ("locate('É', 'xéy' collate utf8mb4_0900_ai_ci, 2)", "2"),
        ("locate('bc ', 'abc' collate utf8mb4_general_ci)", "0"),
        ("instr('xß' collate utf8mb4_unicode_ci, 'SS')", "0"),
        ("instr('İΑΣ' collate utf8mb4_unicode_ci, 'ασ')", "2"),
        ("lpad('hi', 4, '??')", "??hi"),
        ("lpad('hi', 1, '??')", "h"),
        ("lpad('hi', 5, 'ab')", "abahi"),
        ("lpad('hi', 5, '')", ""),
        ("rpad('hi', 5, '?')", "hi???"),
        ("rpad('中', 3, '文字')", "中文字"),
        ("ltrim('  barbar  ')", "barbar  "),
        ("rtrim('  barbar  ')", "  barbar"),
        ("trim('  bar   ')", "bar"),
        ("trim(leading 'x' from 'xxxbarxxx')", "barxxx"),
        ("trim(both 'x' from 'xxxbarxxx')", "bar"),
        ("trim(trailing 'xyz' from 'barxxyz')", "barx"),
        ("trim('ab' from 'ababcab')", "c"),
        ("trim('' from ' a')", " a"),
        ("trim(trailing from 'a  ')", "a"),
        ("make_set(1, 'a', 'b', 'c')", "a"),
        ("make_set(1 | 4, 'hello', 'nice', 'world')", "hello,world"),
        ("make_set(1 | 4, 'hello', 'nice', null, 'world')", "hello"),
        ("make_set(0, 'a', 'b', 'c')", ""),
        ("mid('Sakila', -5, 3)", "aki"),
        ("substring('Quadratically', 5)", "ratically"),
        ("substring('foobarbar' from 4)", "barbar"),
        ("substring('Quadratically', 5, 6)", "ratica"),
        ("substring('Sakila', -3)", "ila"),
        ("substring('Sakila' from -4 for 2)", "ki"),
        ("substring('abc', 0)", ""),
        ("substring('abc', -4)", ""),
        ("substring('abc', 2, -1)", ""),
        ("substr(x'010203', 2)", "0x0203"),
        ("substring('abc', 2, null)", None),
        ("substring_index('www.mysql.com', '.', 2)", "www.mysql"),
        ("substring_index('www.mysql.com', '.', -2)", "mysql.com"),
        ("substring_index('www.mysql.com', '.', 0)", ""),
        ("substring_index('a.b', 'x', 1)", "a.b"),
        ("quote('Don\\'t!')", "'Don\\'t!'"),
        ("quote(null)", "NULL"),
        ("replace('www.mysql.com', 'w', 'Ww')", "WwWwWw.mysql.com"),
        ("replace('abc', '', 'x')", "abc"),
        ("reverse('abc')", "cba"),
        ("reverse('é中')", "中é"),
        ("reverse(x'0102')", "0x0201"),
        ("space(3)", "   "),
        ("strcmp('text', 'text2')", "-1"),
        ("strcmp('text2', 'text')", "1"),
        ("strcmp('text', 'text')", "0"),
        (f"strcmp('A' {_CI}, 'a')", "0"),
        ("strcmp('A', 'a')", "-1"),
        ("upper('straße')", "STRAßE"),
        ("upper('ᾀŉǆ')", "ᾈŉǄ"),
        ("lower('İΣ')", "iσ"),
        ("lower(x'41')", "0x41"),
        ("to_base64('abc')", "YWJj"),
        ("to_base64('')", ""),
        ("length(to_base64(repeat('a', 60)))", "81"),
        ("from_base64('YWJj')", "0x616263"),
        ("from_base64('Y!')", None),
        ("md5('testing')", "ae2b1fca515949e5d54fb22b8ed95575"),
        ("sha1('abc')", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("sha2('abc', 224)", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
        ("left(sha2('abc', 0), 8)", "ba7816bf"),
        ("sha2('abc', 1)", None),
        ("crc32('MySQL')", "3259397556"),
        ("crc32('')", "0"),
        ("bin(12)", "1100"),
        ("oct(12)", "14"),
        ("conv('a', 16, 2)", "1010"),
        ("conv('6E', 18, 8)", "172"),
        ("conv(-17, 10, -18)", "-H"),
        ("conv(10 + '10' + '10' + x'0a', 10, 10)", "40"),
        ("conv(-1, 10, 16)", "FFFFFFFFFFFFFFFF"),
        ("conv('z', 10, 2)", "0"),
        ("conv('1', 1, 10)", None),
        ("'Michael!' regexp '.*'", "1"),
        ("'abc' regexp '^a.c$'", "1"),
        ("'ABC' regexp 'b'", "0"),
        (f"'ABC' {_CI} regexp 'b'", "1"),
        ("'new*\\nline' regexp 'new\\\\*.\\\\*line'", "0"),
        ("'a' not regexp '^[a-d]'", "0"),
        ("regexp_like('CamelCase', 'CAMELCASE', 'i')", "1"),
        ("regexp_like('a\\n', 'a$')", "0"),
        ("null regexp 'a'", None),
        ("'a word' regexp '\\\\bword\\\\b'", "1"),
        ("'Ä1' regexp '^[[:upper:]]'", "0"),
        ("'Ä1' regexp '^\\\\p{Lu}[[:digit:]]$'", "1"),
        ("regexp_substr('abc abd', 'ab.')", "abc"),
        ("regexp_substr('abc abd', 'ab.', 2)", "abd"),
        ("regexp_substr('abc abd', 'ab.', 1, 2)", "abd"),
        ("regexp_substr('abc abd', 'ab.', 1, 3)", None),
        ("regexp_substr('abc ABD', 'ab.', 2, 0, 'i')", "ABD"),
        ("regexp_substr('abc', '^b', 2)", "b"),
        ("regexp_substr('', 'a*', 1)", ""),
        ("regexp_instr('日本語', '語')", "3"),
        ("regexp_instr('日本語', '本', 1, 1, 1)", "3"),
        ("regexp_instr('dog cat dog', 'dog', 2)", "9"),
        ("regexp_instr('dog', 'cat')", "0"),
        ("regexp_instr('dog', null)", None),
        ("regexp_replace('abc def ghi', '[a-z]+', 'X', 1, 3)", "abc def X"),
        ("regexp_replace('abc def ghi', '[a-z]+', 'X', 5)", "abc X X"),
        ("regexp_replace('abc', 'b', 'X', 1, -4)", "aXc"),
        ("regexp_replace('abc', 'b', 'X', 1, 2)", "abc"),
        ("regexp_replace('John Smith', '(\\\\w+) (\\\\w+)', '\\\\2, \\\\1')", "Smith, John"),
        ("regexp_replace('abc', 'b', '\\\\\\\\\\\\x\\\\')", "a\\xc"),
        ("regexp_replace('baaac', 'a*', '-')", "-b-c-"),
        ("translate('abcabc', 'abca', 'xy')", "xyxy"),
        ("hex(translate(x'610062', x'00', 'é'))", "61C362"),
        ("translate('abc', null, 'x')", None),
        ("weight_string('a  ')", "0x61"),
        (f"hex(weight_string('aB' {_CI}))", "00410042"),
        ("weight_string(5)", None),
        ("inet_aton('10.0.5.9')", "167773449"),
        ("inet_aton('127.1')", "2130706433"),
        ("inet_ntoa(167773449)", "10.0.5.9"),
        ("hex(inet6_aton('fdfe::5a55:caff:fefa:9089'))", "FDFE0000000000005A55CAFFFEFA9089"),
        ("inet6_ntoa(unhex('0A000509'))", "10.0.5.9"),
        ("is_ipv4('10.0.5.256')", "0"),
        ("is_uuid('6ccd780c-baba-1026-9564-5b8c656024db')", "1"),
        ("hex(uuid_to_bin('6ccd780c-baba-1026-9564-5b8c656024db'))", "6CCD780CBABA102695645B8C656024DB"),
        ("hex(uuid_to_bin('6ccd780c-baba-1026-9564-5b8c656024db', 1))", "1026BABA6CCD780C95645B8C656024DB"),
        (
            "bin_to_uuid(unhex('1026BABA6CCD780C95645B8C656024DB'), 1)",
            "6ccd780c-baba-1026-9564-5b8c656024db",
        ),
        ("repeat('', 18446744073709551615)", ""),
        ("uncompress(x'0500000078da2b492d2e0100045d01c1')", "0x74657374"),
        ("uncompress(x'0300000078da2b492d2e0100045d01c1')", None),
        ("uncompress(x'0500000078da2b49')", None),
        ("format_bytes(512)", "512 bytes"),
        ("format_bytes(-3501)", "-3.42 KiB"),
        ("format_bytes(1e30)", "8.67e+11 EiB"),
        ("format_nano_time(3501)", "3.50 us"),
        ("format_nano_time('188732396662000')", "2.18 d"),
        # The vectors of tidb ``builtin_encryption_test.go``.
        ("aes_encrypt('pingcap', '1234567890123456')", "0x697bfe9b3f8c2f289dd82c88c7bc95c4"),
        ("aes_decrypt(x'697BFE9B3F8C2F289DD82C88C7BC95C4', '1234567890123456')", "0x70696e67636170"),
        ("aes_decrypt(x'697BFE9B3F8C2F289DD82C88C7BC95C4', 'wrong')", None),
        ("aes_decrypt('short', 'k')", None),
        ("aes_decrypt('', 'k')", None),
        ("aes_encrypt(null, 'k')", None),
        ("aes_encrypt('a', 'k', null) is null", "0"),
        ("hex(convert('中文' using gbk))", "D6D0CEC4"),
        ("length(cast('中文' as char charset gbk))", "4"),
        ("md5(convert('中文' using gbk))", "bcce109775e8e1972e9f5fcda3e12895"),
        ("convert('😀a' using gbk)", "?a"),
        ("convert(x'D6D0' using gbk)", "中"),
        ("convert(x'FF' using gbk)", None),
        ("greatest(2, 0)", "2"),
        ("greatest(34.0, 3.0, 5.0)", "34.0"),
        ("greatest('B', 'A', 'C')", "C"),
        ("least('a', null)", None),
        (f"least('b' {_CI}, 'A')", "A"),
        ("interval(23, 1, 15, 17, 30, 44, 200)", "3"),
        ("interval(10, 1, 10, 100, 1000)", "2"),
        ("interval(22, 23, 30, 44, 200)", "0"),
        ("interval(null, 1, 2)", "-1"),
        ("interval(65, 1, 10, 100) - 1", "1"),
        ("interval((65535 * 2), 1, 10)", "2"),
    ],
)  # fmt: skip
def test_text(text: str, expected: str | None) -> None:
    assert result_text(text) == expected


@pytest.mark.parametrize("name", ["connection_id", "user", "version"])
def test_rejected_functions_have_a_reason(name: str) -> None:
    with pytest.raises(UnsupportedSQL, match=f"the function {name.upper()} is not supported") as caught:
        value_of(f"{name}()")
    assert caught.value.hint


@pytest.mark.parametrize("pattern", ["(a", "a{1001}", "a**", "(?=a)", "\\\\C", "(a)\\\\1", "[[:x:]]"])
def test_patterns_that_go_rejects_are_errors(pattern: str) -> None:
    with pytest.raises(ScenarioError, match=r"Invalid regexp"):
        value_of(f"'aaaa' regexp '{pattern}'")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("regexp_like('a', '')", "Empty pattern"),
        ("regexp_like('a', 'a', 'x')", "Invalid match type"),
        ("regexp_substr(x'61', 'a')", "binary collation"),
        ("regexp_substr('abc', 'a', 4)", "Index out of bounds"),
        ("regexp_instr('abc', 'a', 0)", "Index out of bounds"),
        ("regexp_instr('abc', 'a', 1, 1, 2)", "return_option"),
        ("regexp_replace('abc', 'b', '\\\\1')", "Substitution number"),
        ("regexp_replace('abc', '(x)|b', '\\\\1')", "no match"),
    ],
)
def test_arguments_of_regular_expressions_that_are_errors(call: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        value_of(call)


def test_a_pattern_takes_linear_time() -> None:
    assert value_of(f"'{'a' * 5000}' regexp '^(a+)+$'") is True


@pytest.mark.parametrize(
    "to", ["binary(67108865)", "binary(4000000000)", "char(16777217)", "char(4000000000)"]
)
def test_a_sort_key_has_a_largest_length(to: str) -> None:
    assert result_text(f"weight_string('a' as {to})", LAX) is None
    with pytest.raises(ScenarioError, match="larger than max_allowed_packet"):
        result_text(f"weight_string('a' as {to})")


@pytest.mark.parametrize(
    "text",
    [
        "left('a')", "concat()", "json_object('a')", "nullif(1)", "date_add(1, 2, 3, 4)",
        "adddate(1, 2, 'DAY')", "substr('abc', 1, 2, 3)", "substring('abc', 1, 2 for 3)",
    ],
)  # fmt: skip
def test_a_wrong_number_of_arguments_is_an_error(text: str) -> None:
    with pytest.raises(ScenarioError, match=r"Incorrect parameter count|does not parse"):
        value_of(text)


@pytest.mark.parametrize(
    "text",
    ["trim('a', 'b')", "trim(leading 'a')", "trim('a' from 'b' from 'c')", "date_add('2020-01-01', 1)",
     "date_sub('2020-01-01', 1)"],
)  # fmt: skip
def test_forms_of_other_databases_do_not_parse(text: str) -> None:
    with pytest.raises(ScenarioError, match="SQL does not parse"):
        result_text(text)


def test_a_misspelt_function_gets_a_suggestion() -> None:
    with pytest.raises(UnsupportedSQL, match="SUBSTRING_INDEX"):
        value_of("substring_inde('a', 'b', 1)")


@pytest.mark.parametrize("text", ["inet_aton('1.2.3.256')", "inet_aton('')", "inet6_aton('1.2.3')"])
@pytest.mark.parametrize("mode", [SQLMode(), SQLMode(strict=False)])
def test_a_text_that_is_no_address_is_an_error_in_every_mode(text: str, mode: SQLMode) -> None:
    with pytest.raises(ScenarioError, match="Incorrect string value"):
        value_of(text, mode)
