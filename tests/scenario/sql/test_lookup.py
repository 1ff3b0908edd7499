"""A lookup by handle finds the same rows as a full scan."""

from __future__ import annotations

import pytest

from ticdc_producer.scenario.sql.session import Session

ROWS = "create table t (id bigint unsigned primary key, v int); insert into t values " + ", ".join(
    f"({number}, {number % 3})" for number in [*range(12), 1 << 63, (1 << 64) - 1]
)


def deleted(where: str) -> list[bytes | None]:
    session = Session()
    session.run(f"{ROWS}; delete from t where {where}")
    return [change.before[0] for change in session.history().changes if change.before is not None]


@pytest.mark.parametrize(
    "where",
    [
        "id = 5",
        "5 = id",
        "id = 5 and v = 2",
        "id = 5 and v = 1",
        "(v = 2 and (id in (8, 5, 77)))",
        "id = 5 or v = 1",
        "not id = 5",
        "id = -1",
        "id = 9223372036854775808",
        "id in (18446744073709551615, 0)",
        "id in (1, '2')",
        "id in (1, null)",
        "id = 18446744073709551616",
        "id = '5'",
        "id = 5.0",
        "id = 5 and id = 6",
        "t.id = 4 and test.t.v = 1",
    ],
)
def test_a_lookup_finds_what_a_scan_finds(where: str) -> None:
    assert deleted(where) == deleted(f"({where}) is true")  # IS hides the condition from the lookup
