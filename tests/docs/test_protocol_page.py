"""``docs/protocols.md`` agrees with the code: the dump equals the message, the tables equal the fidelity."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.docs.craft_dump import dumped
from tests.docs.generated_tables import DOCS
from tests.docs.one_change import ENCODERS, message
from tests.golden_events import GOLDEN
from tests.protocols.golden_messages import load_messages
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.protocols.base import Encoder
from ticdc_producer.protocols.canal_json.encoder import CanalJSONEncoder
from ticdc_producer.protocols.craft.encoder import CraftEncoder
from ticdc_producer.protocols.debezium.encoder import DebeziumEncoder
from ticdc_producer.protocols.open_protocol.encoder import OpenEncoder
from ticdc_producer.protocols.simple.encoder import SimpleEncoder

DEFAULTS: list[Encoder] = [
    OpenEncoder(),
    CraftEncoder(),
    CanalJSONEncoder(),
    DebeziumEncoder(),
    SimpleEncoder(),
]


def test_a_dump_contains_every_byte_of_its_message() -> None:
    values = [message(ENCODERS["craft"]).value]
    for path in GOLDEN.glob("visible/*.craft.max-batch-size-1.jsonl"):
        rows = [line for line in load_messages(path) if line.value and line.value[10] == 1]
        values += [line.value for line in rows]
    assert len(values) > 400
    for value in values:
        assert b"".join(data for data, _ in dumped(value or b"")) == value


def _cells(row: str) -> list[str]:
    """The cells of a table's row, one per protocol."""
    page = (DOCS / "protocols.md").read_text("utf-8")
    (line,) = (line for line in page.splitlines() if line.startswith(f"| {row} |"))
    return [cell.strip() for cell in line.split("|")[2:-1]]


def _ddl_type(fidelity: Fidelity) -> str:
    preserved = [fidelity.visible_ddl_type(action) == action for action in (3, 4, 5, 60)]
    return "preserved" if all(preserved) else "partly" if any(preserved) else "lost"


@pytest.mark.parametrize(
    ("row", "cell_start"),
    [
        ("order of columns", lambda fidelity: "by name" if fidelity.sorted_columns else "preserved"),
        ("partition of a table", lambda fidelity: "lost" if fidelity.table_ids == "none" else "preserved"),
        ("commit-ts", lambda fidelity: fidelity.commit_ts),
        ("resolved events", lambda fidelity: "always" if fidelity.resolved else "with"),
        ("DDL type", _ddl_type),
    ],
)
def test_the_tables_agree_with_the_codecs(row: str, cell_start: Callable[[Fidelity], str]) -> None:
    for cell, encoder in zip(_cells(row), DEFAULTS, strict=True):
        assert cell.startswith(cell_start(encoder.fidelity))
