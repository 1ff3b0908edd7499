"""Values of faker are made once, in a pool, and are equal for equal seeds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.scenario.generate.plans import changes_of, planned
from ticdc_producer.errors import ScenarioError, ScenarioProblems
from ticdc_producer.model.event import Op

TABLE = "CREATE TABLE t (id BIGINT PRIMARY KEY, name VARCHAR(60) NOT NULL, n INT NOT NULL, born DATE)"


def names(folder: Path, spec: dict[str, Any], seed: int = 1) -> list[str]:
    plan = planned(folder, TABLE, seed, rows=300, transactions=1, mix={"update": 1}, columns={"name": spec})
    changes = [change for change in changes_of(plan) if change.op == Op.INSERT]
    return [change.after[1].decode() for change in changes]


def test_rows_draw_from_the_pool(tmp_path: Path) -> None:
    spec = {"faker": "name", "locale": "de_DE", "pool": 80}
    first = names(tmp_path, spec)
    assert 60 < len(set(first)) <= 80
    assert any(" " in name for name in first)
    assert names(tmp_path, spec) == first
    assert set(names(tmp_path, spec, seed=2)) != set(first)


def test_faker_is_called_as_often_as_the_pool_is_large(tmp_path: Path) -> None:
    plan = planned(
        tmp_path, TABLE, rows=1_000_000, transactions=1, mix={"update": 1},
        columns={"name": {"faker": "name", "pool": 7}, "n": {"faker": "random_digit", "pool": 20}},
    )  # fmt: skip
    _id, name, number, _born = plan.columns
    assert len(name.choices) == 7
    assert set(number.choices) <= {b"%d" % digit for digit in range(10)}


@pytest.mark.parametrize(
    ("column", "spec", "message"),
    [
        ("name", {"faker": "nmae"}, "faker has no provider 'nmae' in locale en_US (did you mean 'name'?)"),
        ("name", {"faker": "seed_instance"}, "faker has no provider 'seed_instance'"),
        ("name", {"faker": "name", "locale": "de_ED"}, "faker has no locale 'de_ED' (did you mean 'de_DE'?)"),
        ("name", {"faker": "words"}, "faker's words gives a list"),
        ("name", {"faker": "uuid7"}, "faker's uuid7 depends on the day"),
        ("born", {"faker": "date_of_birth"}, "faker's date_of_birth depends on the day"),
        ("name", {"faker": "firefox"}, "faker's firefox depends on the day"),
        ("name", {"faker": "text"}, "Data too long (at most 60 characters) for column 'name'"),
        ("n", {"faker": "name"}, "Incorrect integer value for column 'n'"),
        ("name", {"locale": "de_DE"}, "locale and pool require faker"),
        ("name", {"faker": "name", "values": ["x"]}, "values and faker exclude each other"),
        ("name", {"faker": "name", "pool": 10_001}, "pool: input should be less than or equal to 10000"),
    ],
)
def test_invalid_faker_settings_are_rejected(
    tmp_path: Path, column: str, spec: dict[str, Any], message: str
) -> None:
    with pytest.raises((ScenarioError, ScenarioProblems)) as caught:
        planned(tmp_path, TABLE, transactions=1, rows=1, columns={column: spec})
    assert message in str(caught.value)
    assert "generated.yaml:" in str(caught.value), json.dumps(spec)
