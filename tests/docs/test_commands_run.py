"""Every command of the documentation is run, or is in a table with the reason why not."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.docs.command_tables import NOT_RUN, REPLACED, not_run
from tests.docs.page_claims import CLAIMS, check
from tests.docs.page_commands import ROOT, Command, all_commands, elsewhere
from tests.docs.page_workspace import GIVEN, PageWorkspace, working_directory
from ticdc_producer.kafka.embedded import EmbeddedKafka

COMMANDS = tuple(all_commands())
RUN = tuple(command for command in COMMANDS if not_run(command) is None)
LEFT_OUT = tuple(command for command in COMMANDS if not_run(command) is not None)
QUICK = tuple(command for command in RUN if not command.needs_spark)
REPRESENTATIVE, *LONG = (command for command in RUN if command.needs_spark)
Pages = Callable[[str], PageWorkspace]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    """A workspace for each page, because its commands build on one another."""
    workspaces: dict[str, PageWorkspace] = {}

    def workspace(page: str) -> PageWorkspace:
        if page not in workspaces:
            workspaces[page] = PageWorkspace(page, tmp_path_factory.mktemp(Path(page).stem))
        return workspaces[page]

    return workspace


def test_every_command_is_run_or_left_out_for_a_reason() -> None:
    assert [command.text for command in RUN if not command.ours] == []
    assert list(elsewhere()) == []


def test_the_tables_name_only_commands_of_the_pages() -> None:
    for left_out in NOT_RUN:
        assert any(command.page == left_out.page and left_out.part in command.text for command in LEFT_OUT), (
            left_out
        )
        for test in re.findall(r"tests/\S+\.py", left_out.reason):
            assert (ROOT / test).is_file(), test
    for replacement in REPLACED:
        assert any(replacement.old in command.text for command in RUN), replacement
    for named in (*GIVEN, *CLAIMS):
        assert any(command.page == named.page and named.part in command.text for command in RUN), named


@pytest.mark.parametrize("command", LEFT_OUT, ids=str)
def test_a_command_that_is_not_run(command: Command) -> None:
    pytest.skip(f"{command.text}: {not_run(command)}")


@pytest.mark.parametrize("command", QUICK, ids=str)
def test_a_command_without_spark(command: Command, pages: Pages) -> None:
    _run(command, pages(command.page))


def test_a_command_with_spark(spark: SparkSession, kafka: EmbeddedKafka, pages: Pages) -> None:
    _run_with(kafka, REPRESENTATIVE, pages)


@pytest.mark.slow
@pytest.mark.parametrize("command", LONG, ids=str)
def test_the_other_commands_with_spark(
    command: Command, spark: SparkSession, kafka: EmbeddedKafka, pages: Pages
) -> None:
    _run_with(kafka, command, pages)


def _run(command: Command, workspace: PageWorkspace) -> None:
    with working_directory(workspace.folder):
        check(command, workspace, workspace.outcome(command))


def _run_with(kafka: EmbeddedKafka, command: Command, pages: Pages) -> None:
    workspace = pages(command.page)
    workspace.known["bootstrap"] = kafka.bootstrap
    _run(command, workspace)
