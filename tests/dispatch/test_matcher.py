"""Table filter patterns match what TiDB's table filter matches."""

from __future__ import annotations

import pytest

from ticdc_producer.dispatch.matcher import Matcher
from ticdc_producer.errors import ChangefeedError


def _accepts(entries: list[str], name: tuple[str, str], *, case_sensitive: bool = False) -> bool:
    return Matcher(entries, case_sensitive=case_sensitive).accepts(*name)


@pytest.mark.parametrize(
    ("entries", "yes", "no"),
    [
        (["*.*"], [("a", "b"), ("", ""), ("データ", "x\ny")], []),
        (["test.t*"], [("test", "t"), ("test", "t1"), ("TEST", "T1")], [("test", "a"), ("test1", "t")]),
        (["test.t?"], [("test", "t1"), ("test", "t中")], [("test", "t"), ("test", "t12")]),
        (["test.*", "!test.tmp"], [("test", "a")], [("test", "tmp")]),
        (["!test.tmp", "test.*"], [("test", "tmp")], []),  # the last match decides
        (
            ["db*.*", "!*.cfg*", "*.cfgsample"],
            [("db1", "t"), ("x", "cfgsample")],
            [("db1", "cfg1"), ("x", "t")],
        ),
        ([], [], [("a", "b")]),
        (["", "  \t", "# a.b", "  a.c\t"], [("a", "c")], [("a", "b")]),
        (["[a-c].[!x-z]"], [("b", "a"), ("B", "1")], [("d", "a"), ("b", "y"), ("b", "Y"), ("b", "aa")]),
        (["a.[^b]"], [("a", "^"), ("a", "b")], [("a", "c")]),
        ([r"a.[\]\-x]"], [("a", "]"), ("a", "-"), ("a", "x")], [("a", "\\"), ("a", "y")]),
        (["a.[[&|~]"], [("a", "["), ("a", "&"), ("a", "|"), ("a", "~")], [("a", "b")]),
        ([r"a.x\-y\.z\*"], [("a", "x-y.z*")], [("a", "x-y.zz")]),
        (["p_1$.45", "中文.表*"], [("p_1$", "45"), ("中文", "表名")], [("p_1", "45"), ("英文", "表名")]),
        (
            ['"a ""b""".`c``d.*`'],
            [('a "b"', "c`d.*"), ('A "B"', "C`D.*")],
            [('a ""b""', "c`d.*"), ('a "b"', "c`dxx")],
        ),
        (["/^foo/.*"], [("foo", "x"), ("foobar", "x")], [("xfoo", "x")]),
        (["/oo/./^t[0-9]+$/"], [("foo", "t1"), ("OOps", "T22")], [("foo", "t1x"), ("f", "t1")]),
        ([r"/^a\/b$/.*"], [("a/b", "t")], [("a", "t")]),
        (["*.İ"], [("a", "i")], [("a", "ı")]),  # as Go lowers it, to one letter
    ],
)
def test_patterns(entries: list[str], yes: list[tuple[str, str]], no: list[tuple[str, str]]) -> None:
    assert [name for name in yes if not _accepts(entries, name)] == []
    assert [name for name in no if _accepts(entries, name)] == []


@pytest.mark.parametrize(
    ("entry", "name"),
    [("BAR.*", ("bar", "a")), ("a*.A*", ("aB", "ab")), ('"Q".t', ("q", "t")), ("/FOO/.*", ("foo", "t"))],
)
def test_case_matters_only_if_case_sensitive(entry: str, name: tuple[str, str]) -> None:
    assert _accepts([entry], name)
    assert not _accepts([entry], name, case_sensitive=True)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("db", "schemaPattern.tablePattern"),
        ("db.", "a pattern is missing"),
        ("!", "a pattern is missing"),
        ("a.b.c", "'.c' is too much"),
        ("a%b.c", "'%' is not allowed"),
        (r"a\tb.c", "reserved"),
        ("db\\", "'\\' at the end"),
        ("[].*", "is not complete"),
        ("[.*", "is not complete"),
        (r"[\d].*", "is not complete"),
        ("[!].*", "is not a character class"),
        ("[z-a].*", "is not a pattern"),
        ("[[:alpha:]].*", "is not a character class"),
        ("`db`*.*", "'.' is missing"),
        ("/db.*", "closing '/'"),
        ("`db.*", "closing `"),
        ('"db.*', 'closing "'),
        ("@rules.txt", "from a file are not supported yet"),
        ("/^t((?!_copy).)*$/.*", "is not a regular expression: invalid perl operator: (?!"),
        (r"/(a)\1/.*", r"is not a regular expression: invalid escape sequence: \1"),
        ("/a++/.*", "is not a regular expression: bad repetition operator: ++"),
        ("/(a/.*", "is not a regular expression: missing )"),
        ("/[a/.*", "is not a regular expression: missing ]"),
        (r"/a\C/.*", r"is not a regular expression: invalid escape sequence: \C"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_entry(entry: str, message: str) -> None:
    with pytest.raises(ChangefeedError) as caught:
        Matcher(["*.*", entry], case_sensitive=False)
    assert repr(entry) in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        (r"^\d+$", ["12"], ["١٢", "12\n"]),  # ASCII digits; $ is the very end
        (r"^\w\s\D\W$", ["a\tb-"], ["ä\tb-", "a\x0bb-"]),
        (r"\bt\z", ["a t", "ät"], ["at"]),  # in Go ä is no word character
        (r"^(?P<x>a|b)(?:c|d)(?i:E)$", ["ace", "bdE"], ["aCe"]),
        (r"^[\w\-.]+$", ["a_1-.b"], ["a b"]),
        (r"^[]a]{2}\x41\x{4e2d}$", ["]aA中"], ["]bA中"]),
        (r"^a.c$", ["abc"], ["a\nc"]),
        (r"^[^\]]$", ["a"], ["]"]),
        (r"^\p{Greek}+$", ["αβ"], ["ab"]),
        (r"^[[:digit:]]\Q.*\E\\\\C$", ["1.*\\\\C"], ["1xx"]),
    ],
)
def test_regular_expressions_mean_what_they_mean_in_go(pattern: str, yes: list[str], no: list[str]) -> None:
    matcher = Matcher([f"/{pattern}/.t"], case_sensitive=True)
    assert [name for name in yes if not matcher.accepts(name, "t")] == []
    assert [name for name in no if matcher.accepts(name, "t")] == []


def test_a_pattern_takes_linear_time() -> None:
    """Python's own engine would take longer than the age of the universe."""
    matcher = Matcher(["/^(a|aa)+$b/.*", "*a*a*a*a*a*a*a*a*b.t"], case_sensitive=False)
    assert not matcher.accepts("a" * 100_000, "t")
