"""The expected tables of a golden folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.consumer_state.folder import SHOP, state_folder
from ticdc_producer.errors import FolderError
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.targets.golden.read import manifest
from ticdc_producer.verifier.consumer_state.plan import expected_tables

FIRST_COMMIT = 429918007904436226


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return state_folder(tmp_path_factory.mktemp("expected") / "golden", state_at=[FIRST_COMMIT])


def test_columns_are_those_of_the_history(golden: Path) -> None:
    tables = prepare(SHOP, overrides=["session.database=shop"]).history.catalog.tables
    columns = {table.qualified_name: table.sent_columns for table in tables}
    by_table = {table.qualified_name: table.columns for table in expected_tables(golden, manifest(golden))}
    assert by_table == columns


def test_keys_are_the_handle_keys(golden: Path) -> None:
    keys = {table.qualified_name: table.key for table in expected_tables(golden, manifest(golden))}
    assert keys == {"shop.items": ("id",), "shop.notes": ("id",), "shop.stock": ("place", "item")}


def test_an_earlier_state_has_the_tables_at_that_time(golden: Path) -> None:
    (table,) = expected_tables(golden, manifest(golden), FIRST_COMMIT)
    assert table.qualified_name == "shop.items"
    assert table.file.read_text("utf-8") == ""


def test_a_missing_state_is_rejected_with_the_existing_ones(golden: Path) -> None:
    with pytest.raises(FolderError, match=str(FIRST_COMMIT)):
        expected_tables(golden, manifest(golden), FIRST_COMMIT + 1)
