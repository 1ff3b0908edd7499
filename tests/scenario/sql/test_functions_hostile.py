"""Every function returns a value or raises a ScenarioError for any arguments, in short time."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scenario.sql.expressions import value_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.json_document import print_json
from ticdc_producer.model.values.sql_value import SQLMode
from ticdc_producer.scenario.sql.functions import FUNCTIONS, REJECTED

_MODES = (SQLMode(), SQLMode(strict=False, zero_dates=True, zero_in_date=True, invalid_dates=True))
_UNUSUAL_VALUES = (
    "null", "0", "1", "-1", "2", "1.5", "-0.0001", "1e300", "-1e300", "9223372036854775807", "1e18", "64",
    "-9223372036854775808", "18446744073709551615", "99999999999999999999999", "''", "' '", "'abc'", "'1'",
    "'-1.5e3x'", "'中'", "x''", "x'ff'", "b'1'", "true", "'2020-02-30'", "'0000-00-00'",
    "'2020-00-00 25:00:00'", "'9999-12-31 23:59:59.9999999'", "'838:59:59'", "date'2020-02-29'",
    "time'-838:59:59'", "timestamp'9999-12-31 23:59:59.999999'", "cast('0000-00-00' as date)",
    "'[1,{\"a\":null}]'", "'{'", "cast('{\"a\":[1e300]}' as json)", "cast('null' as json)", "'$'",
    "'$.a[last-9]'", "'$**.a'", "'one'", "'%Y-%m-%d %H:%i:%s.%f'", "'%j %Y'", "'%p%h'", "'UTC'", "'+14:00'",
    "'DAY_MICROSECOND'", "'YEAR'", "'SECOND'", "'(a|b)*'", "'['",
)  # fmt: skip
_TYPES = (
    "signed", "unsigned", "decimal(5,2)", "decimal(65,30)", "char", "char(2)", "binary(2)", "date",
    "datetime(6)", "time(6)", "year", "double", "float", "json", "vector", "vector(2)",
)  # fmt: skip
_COUNTS = {
    name: f.max_arguments if f.max_arguments >= 0 else f.min_arguments + 2 * f.step
    for name, f in FUNCTIONS.items()
}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
@settings(max_examples=settings().max_examples // 4)
@given(data=st.data())
def test_only_values_and_scenario_errors(name: str, data: st.DataObject) -> None:
    function = FUNCTIONS[name]
    count = data.draw(st.integers(function.min_arguments, _COUNTS[name]))
    arguments = data.draw(st.lists(st.sampled_from(_UNUSUAL_VALUES), min_size=count, max_size=count))
    mode = data.draw(st.sampled_from(_MODES))
    with suppress(ScenarioError):
        values = [value_of(argument, mode) for argument in arguments]
        function.check(name, len(values))
        function(values, mode, "utf8mb4_general_ci")


@pytest.mark.parametrize("kind", _TYPES)
def test_casts_give_only_values_and_scenario_errors(kind: str) -> None:
    for value in _UNUSUAL_VALUES:
        for mode in _MODES:
            with suppress(ScenarioError):
                value_of(f"cast({value} as {kind})", mode)


_DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["a", "", "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
_PATHS = st.lists(st.sampled_from([".a", ".b", "[0]", "[1]", "[last]"]), max_size=3).map(
    lambda legs: "$" + "".join(legs)
)


@given(document=_DOCUMENTS, path=_PATHS)
def test_json_replace_and_json_insert_of_existing_paths(document: object, path: str) -> None:
    source = "'" + print_json(document) + "'"  # type: ignore[arg-type]  # hypothesis has no recursive types
    before = value_of(f"json_extract({source}, '{path}')")
    replaced = value_of(f"json_extract(json_replace({source}, '{path}', 'new'), '{path}')")
    assert replaced == (None if before is None else '"new"')
    if before is not None:
        assert value_of(f"json_insert({source}, '{path}', 'new')") == print_json(document)  # type: ignore[arg-type]  # as above


def test_no_function_is_rejected_and_computed() -> None:
    assert not FUNCTIONS.keys() & REJECTED
