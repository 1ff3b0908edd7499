"""Values from outside of this package: Spark SQL of ``expression:``, and the faker library.

Spark SQL can run Java methods (``reflect``, ``java_method``), read files and query tables. An expression may
therefore contain only words, functions and shapes of syntax that are listed here. Text that two parsers could
read differently (comments, quoted names, raw strings) is rejected, so that Spark runs the tree that is
checked here.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, NoReturn

from sqlglot import exp, parse
from sqlglot.errors import SqlglotError

from ticdc_producer.errors import ScenarioError
from ticdc_producer.hints import nearest

if TYPE_CHECKING:
    from faker import Generator


NAMES = ("row", "version", "number", "draw")
"""The columns of an expression."""
FUNCTIONS = frozenset({
    "abs", "acos", "add_months", "ascii", "asin", "atan", "atan2", "base64", "bigint", "bin", "bit_count",
    "bit_get", "bit_length", "bround", "btrim", "cast", "cbrt", "ceil", "ceiling", "char", "char_length",
    "character_length", "chr", "coalesce", "concat", "concat_ws", "contains", "conv", "cos", "cosh",
    "crc32", "date", "date_add", "date_diff", "date_format", "date_from_unix_date", "date_part",
    "date_sub", "date_trunc", "dateadd", "datediff", "datepart", "day", "dayofmonth", "dayofweek",
    "dayofyear", "decimal", "decode", "degrees", "double", "elt", "encode", "endswith", "exp", "expm1",
    "extract", "factorial", "find_in_set", "float", "floor", "format_number", "format_string",
    "from_unixtime", "get_json_object", "greatest", "hash", "hex", "hour", "if", "ifnull", "in",
    "initcap", "instr", "int", "isnan", "isnotnull", "isnull", "last_day", "lcase", "least", "left",
    "len", "length", "levenshtein", "ln", "locate", "log", "log10", "log1p", "log2", "lower", "lpad",
    "ltrim", "make_date", "make_dt_interval", "make_interval", "make_timestamp", "make_timestamp_ntz",
    "make_ym_interval", "md5", "minute", "mod", "month", "months_between", "named_struct", "nanvl",
    "negative", "next_day", "nullif", "nvl", "nvl2", "octet_length", "overlay", "pmod", "position",
    "positive", "pow", "power", "quarter", "radians", "regexp_extract", "regexp_replace", "repeat",
    "replace", "reverse", "right", "rint", "round", "rpad", "rtrim", "second", "sha", "sha1", "sha2",
    "shiftleft", "shiftright", "sign", "signum", "sin", "sinh", "smallint", "soundex", "space",
    "split_part", "sqrt", "startswith", "string", "struct", "substr", "substring", "substring_index",
    "tan", "tanh", "timestamp", "timestamp_micros", "timestamp_millis", "timestamp_seconds", "tinyint",
    "to_date", "to_json", "to_timestamp", "to_timestamp_ntz", "translate", "trim", "trunc", "try_divide",
    "ucase", "unbase64", "unhex", "unix_date", "unix_micros", "unix_millis", "unix_seconds", "upper",
    "weekday", "weekofyear", "width_bucket", "xxhash64", "year",
})  # fmt: skip
"""Spark's functions whose result depends on their arguments alone and that access nothing else."""
_WORDS = frozenset({
    "and", "array", "as", "at", "between", "bigint", "binary", "boolean", "both", "case",
    "cast", "char", "date", "day", "days", "dec", "decimal", "div", "double", "else",
    "end", "escape", "false", "float", "for", "from", "hour", "hours", "in", "int", "integer", "interval",
    "is", "leading", "like", "long", "minute", "minutes", "month", "months", "not", "null", "numeric",
    "or", "placing", "quarter", "real", "rlike", "second", "seconds", "short", "smallint", "string",
    "then", "timestamp", "timestamp_ltz", "timestamp_ntz", "tinyint", "to", "trailing", "true",
    "try_cast", "varchar", "week", "weeks", "when", "year", "years",
})  # fmt: skip
"""Words other than names and functions: operators, literals, types and units of time."""
_TOKEN = re.compile(
    r"""(?P<blank>\s+)
    |(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:BD|[LSYDF])?(?![\w.]))
    |(?P<word>[A-Za-z_]\w*)
    |(?P<hidden>--|/\*|->|`)
    |(?P<operator>[-+*/%(),.<>=!&|^~\[\]])""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE | re.ASCII,
)
_SHAPES = (
    exp.Between, exp.Binary, exp.Boolean, exp.Bracket, exp.Case, exp.Column, exp.DataType, exp.DataTypeParam,
    exp.Func, exp.Identifier, exp.In, exp.Interval, exp.IntervalSpan, exp.Literal, exp.Null, exp.Paren,
    exp.Unary, exp.Var,
)  # fmt: skip
_NO_SHAPES = (exp.Query, exp.Lambda, exp.Window, exp.Star, exp.Placeholder, exp.Parameter)
_HINT = f"it may use {', '.join(NAMES)} and the functions that docs/generate.md lists"


def check_expression(text: str, column: str) -> None:
    """Check that an expression computes a value of ``NAMES`` and literals, and does nothing else.

    :param column: name of the column, for errors.
    :raises ScenarioError: for the first word, function or syntax that is not allowed.
    """
    try:
        _check_tokens(text)
        _check_tree(text)
    except ScenarioError as error:
        what = f"the expression of column {column!r} {error.what}"
        raise ScenarioError(what, column=column, hint=error.hint) from None


def _check_tree(text: str) -> None:
    try:
        trees = parse(text, dialect="spark")
    except SqlglotError as error:
        raise ScenarioError(f"is invalid: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise ScenarioError("is nested too deeply") from None
    for node in (node for tree in trees if tree is not None for node in tree.walk()):
        if not isinstance(node, _SHAPES) or isinstance(node, _NO_SHAPES):
            raise _not_allowed(type(node).__name__.lower())
        if isinstance(node, exp.Column) and (node.name.lower() not in NAMES or node.table):
            raise _not_allowed(node.sql("spark"))


def _check_tokens(text: str) -> None:
    tokens = [*_tokens(text)]
    for (kind, token), (_, following) in zip(tokens, [*tokens[1:], ("", "")], strict=True):
        word = token.lower()
        if kind == "hidden":
            raise _not_allowed(token)
        if kind != "word":
            continue
        if following == "(" and word not in FUNCTIONS and word not in _WORDS:
            raise ScenarioError(f"calls {token!r}, which is not allowed", hint=_HINT)
        # A string after a word that is not in the list has a prefix, such as r for raw.
        if following != "(" and word not in _WORDS and word not in NAMES:
            raise _not_allowed(token)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield kind and text of each token except blanks."""
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise _not_allowed(text[position])
        if token.lastgroup != "blank":
            yield str(token.lastgroup), token[0]
        position = token.end()


def _not_allowed(what: str) -> ScenarioError:
    return ScenarioError(f"contains {what!r}, which is not allowed", hint=_HINT)


_CLOCK_DEPENDENT = frozenset({"date_time", "ssn", "passport", "profile"})
"""Parts of the library whose values depend on the current day."""
_CLOCK_DEPENDENT_METHODS = frozenset({"uuid1", "uuid7", "businesses_ogrn", "individuals_ogrn"})
_PLAIN = (str, int, float, Decimal, date, datetime)


class _ClockDependentError(Exception):
    """A value was about to depend on the clock."""


@lru_cache(maxsize=256)
def fake_values(provider: str, locale: str, pool: int, seed: int) -> tuple[str, ...]:
    """Return ``pool`` values as SQL literals; they depend on the version of the library.

    :raises ScenarioError: for an unknown locale or provider, and for values that are not scalars or depend
        on the current day.
    """
    fake = _seeded(locale, seed)
    make = _provider(fake, provider, locale)
    texts: list[str] = []
    for _ in range(pool):
        try:
            value = make()
        except _ClockDependentError:
            raise _clock_dependent_error(provider) from None
        except Exception as error:
            raise ScenarioError(f"faker's {provider} gives no value: {error}") from None
        if isinstance(value, bool) or not isinstance(value, _PLAIN):
            what = f"faker's {provider} gives a {type(value).__name__}, which is not a value of a column"
            raise ScenarioError(what, hint="use a provider of texts or numbers")
        texts.append(str(value))
    return tuple(texts)


@lru_cache(maxsize=16)
def seeded_fake(provider: str, locale: str) -> Callable[[int], str]:
    """Return a function from a seed to a value as text; it depends on the version of the library.

    :raises ScenarioError: for an unknown locale or provider, and for one whose values depend on the day.
    """
    fake = _seeded(locale, 0)
    make = _provider(fake, provider, locale)

    def value(seed: int) -> str:
        fake.seed_instance(seed)
        try:
            return str(make())
        except _ClockDependentError:
            raise _clock_dependent_error(provider) from None

    return value


def _seeded(locale: str, seed: int) -> Generator:
    from faker import Factory  # slow to import, and few scenarios need it

    try:
        fake = Factory.create(locale)
    except AttributeError:
        from faker.config import AVAILABLE_LOCALES

        hint = nearest(locale, sorted(AVAILABLE_LOCALES)) or "such as en_US, de_DE, ja_JP"
        raise ScenarioError(f"faker has no locale {locale!r}", hint=hint) from None
    fake.seed_instance(seed)
    return fake


def _provider(fake: Generator, name: str, locale: str) -> Callable[[], object]:
    from faker.providers import BaseProvider

    methods: dict[str, Callable[[], object]] = {}
    clock_dependent: set[str] = set(_CLOCK_DEPENDENT_METHODS)
    for provider in fake.get_providers():
        part = type(provider).__module__.removeprefix("faker.providers.").partition(".")[0]
        for method, _ in inspect.getmembers(provider, inspect.ismethod):
            if method.startswith("_"):
                continue
            if part in _CLOCK_DEPENDENT and not hasattr(BaseProvider, method):
                clock_dependent.add(method)
                setattr(fake, method, _refuse_clock)  # other providers call it
            else:
                methods[method] = getattr(provider, method)
    if name in clock_dependent:
        raise _clock_dependent_error(name)
    if name not in methods:
        what = f"faker has no provider {name!r} in locale {locale}"
        raise ScenarioError(what, hint=nearest(name, methods, listed="the documentation of faker"))
    return methods[name]


def _refuse_clock(*_args: object, **_kwargs: object) -> NoReturn:
    raise _ClockDependentError


def _clock_dependent_error(name: str) -> ScenarioError:
    what = f"faker's {name} depends on the day on which it is called"
    return ScenarioError(what, hint="date columns with min and max need no faker")
