"""References name existing rows at any time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.scenario.generate.plans import plans
from tests.scenario.generate.test_tables import checked
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.event import Op
from ticdc_producer.scenario.generate.plan import GeneratePlan

TABLES = """\
CREATE TABLE p (id INT PRIMARY KEY, code VARCHAR(9) NOT NULL UNIQUE, n INT);
CREATE TABLE c (id BIGINT PRIMARY KEY, p BIGINT NOT NULL, code VARCHAR(20), n TINYINT);
"""
GROWING = {"insert": 1, "update": 3}
USUAL: dict[str, Any] = {
    "tables": [
        {"table": "p", "mix": GROWING, "columns": {"id": {"min": 100}}},
        {"table": "c", "columns": {"p": {"references": "test.p.id"}, "code": {"references": "p.code"}}},
    ],
    "rows": 5,
    "transactions": 300,
    "rows-per-transaction": 4,
}


def followed(generated: tuple[GeneratePlan, ...]) -> list[tuple[bytes, int, int]]:
    """Every reference of ``c``, with the number of rows of ``p`` at that time and at the end."""
    parent, child = generated
    ids: list[bytes] = []
    codes: set[bytes] = set()
    named: list[tuple[bytes, int]] = []
    for change in (change for group in checked(generated) for change in group):
        if change.table_id == parent.table.table_id and change.op == Op.INSERT:
            ids.append(change.after[0])
            codes.add(change.after[1])
        elif change.table_id == child.table.table_id and change.after is not None:
            assert change.after[1] in ids
            assert change.after[2] is None or change.after[2] in codes
            if change.op == Op.INSERT or change.before[1] != change.after[1]:
                named.append((change.after[1], len(ids)))
    return [(name, count, len(ids)) for name, count in named]


def test_every_reference_names_an_existing_row(tmp_path: Path) -> None:
    named = followed(plans(tmp_path, TABLES, **USUAL))
    assert min(count for _, count, _ in named) == 5
    young = [name for name, _, _ in named if int(name) >= 105]
    assert len(set(young)) > 20


def test_rows_that_come_first_refer_to_rows_that_come_first(tmp_path: Path) -> None:
    [parent, child] = USUAL["tables"]
    tables = [parent, {**child, "share": 0, "rows": 300}]
    named = followed(plans(tmp_path, TABLES, **{**USUAL, "tables": tables}))
    assert {name for name, _, _ in named} == {b"%d" % number for number in range(100, 105)}


@pytest.mark.parametrize("distribution", ["zipf", "normal"])
def test_references_are_distributed(tmp_path: Path, distribution: str) -> None:
    columns = {
        "p": {"references": "p.id", "distribution": distribution},
        "code": {"references": "p.code", "distribution": "uniform"},
    }
    tables = [{"table": "p", "rows": 12, "share": 0}, {"table": "c", "columns": columns}]
    generated = plans(tmp_path, TABLES, tables=tables, transactions=600, mix={"insert": 1})
    counts = Counter(int(name) for name, _, _ in followed(generated))
    most, least = {"zipf": (1, 12), "normal": (6, 1)}[distribution]
    assert counts[most] > 3 * counts[least]


def test_the_latest_row_is_the_one_just_inserted(tmp_path: Path) -> None:
    latest = {"references": "p.id", "distribution": "latest"}
    each = [
        {"does": "insert", "table": "p"},
        {"does": "insert", "table": "c"},
        {"does": "insert", "table": "c"},
    ]
    tables = [{"table": "p"}, {"table": "c", "columns": {"p": latest}}]
    groups = checked(plans(tmp_path, TABLES, tables=tables, transactions=40, each=each))
    assert len(groups) == 40
    for new, *items in groups:
        assert [item.after[1] for item in items] == [new.after[0]] * 2


def refusal(folder: Path, parent: dict[str, Any], reference: Any, **step: Any) -> str:
    tables = [{"table": "p", "rows": 3, "mix": GROWING, **parent}, {"table": "c", "columns": reference}]
    with pytest.raises(ScenarioError) as caught:
        plans(folder, TABLES, **{"tables": tables, "transactions": 5, **step})
    return str(caught.value).removeprefix(f"{folder}/")


@pytest.mark.parametrize(
    ("parent", "reference", "message"),
    [
        ({}, {"p": {"references": "q.id"}}, "no earlier generate step fills a table test.q"),
        ({}, {"p": {"references": "c.id"}}, "no earlier generate step fills a table test.c"),
        ({}, {"p": {"references": "p.nope"}}, "table test.p has no column 'nope'"),
        ({}, {"p": {"references": "p.n"}}, "n is not a numbered key column of test.p (use id or"),
        ({}, {"n": {"references": "p.code"}}, "column 'n' cannot hold what test.p.code holds"),
        ({"rows": 300}, {"n": {"references": "p.id"}}, "column 'n' cannot hold what test.p.id holds"),
        ({"mix": {"insert": 1, "delete": 1}}, {"p": {"references": "p.id"}}, "rows of test.p are deleted"),
        ({"key-changes": 0.5}, {"p": {"references": "p.id"}}, "keys of test.p change"),
        ({"rows": 0, "share": 0}, {"p": {"references": "p.id"}}, "test.p has no row to refer to yet"),
    ],
)  # fmt: skip
def test_references_that_cannot_be_guaranteed(
    tmp_path: Path, parent: dict[str, Any], reference: dict[str, Any], message: str
) -> None:
    error = refusal(tmp_path, parent, reference, rows=3)
    assert message in error
    assert error.startswith("generated.yaml:")


def test_replaced_rows_cannot_be_referenced(tmp_path: Path) -> None:
    tables = [{"table": "p"}, {"table": "c", "columns": {"p": {"references": "p.id"}}}]
    with pytest.raises(ScenarioError, match=r"rows of test[.]p are deleted"):
        plans(tmp_path, TABLES, tables=tables, rows=3, transactions=5, each=[{"does": "replace"}])
