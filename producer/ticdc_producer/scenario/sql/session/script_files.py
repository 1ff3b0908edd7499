"""The file whose statements a session runs, which ``SOURCE`` commands change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.catalog import DDLJob
from ticdc_producer.scenario.sourced_files import SourcedFiles, loaded_by
from ticdc_producer.scenario.sql.session.refusals import located
from ticdc_producer.scenario.sql.text.statements import SOURCE, Statement


@dataclass
class ScriptFiles:
    """The file whose statements run.

    :param file: as errors name it.
    :param sourced: the files that ``SOURCE`` commands and ``LOAD DATA`` read.
    """

    file: str
    sourced: SourcedFiles
    _sourced_at: int = 0  # line of the scenario's own command or step that runs another file

    def line_of(self, statement: Statement) -> int:
        """Return the line of a statement in the scenario file; a sourced one has that of its SOURCE."""
        return self.scenario_line(statement.line)

    def scenario_line(self, line: int) -> int:
        """Return the line in the scenario file for a line of the file that runs."""
        return self._sourced_at or line

    def with_line(self, job: DDLJob) -> DDLJob:
        """Return a DDL job with the line of its statement in the scenario file."""
        return replace(job, line=self._sourced_at) if self._sourced_at else job

    def loaded(self, name: str) -> str:
        """Return the content of a file that ``LOAD DATA`` reads.

        :raises ScenarioError: if the folder of the scenario does not contain it, or there is no such folder.
        """
        if (read := self.sourced.get(loaded_by(name))) is None:
            what = f"LOAD DATA reads files of the folder of the scenario, which has no {name!r}"
            raise ScenarioError(what, hint="copy the file there")
        return read.text

    @contextmanager
    def opened(self, command: Statement) -> Iterator[str]:
        """Return the text of the file that a ``SOURCE`` command reads; in this context its statements run.

        :raises ScenarioError: if the command does not begin a line, or the scenario is not a file.
        """
        if (read := self.sourced.get((self.file, command.line))) is None:
            what = f"{SOURCE} is executed only at the beginning of a line of a scenario in a file"
            raise ScenarioError(what, hint="insert the statements of the file here")
        with self.within(read.file, self.line_of(command)), located(self.file, 1):
            yield read.text

    @contextmanager
    def within(self, file: str, line: int) -> Iterator[None]:
        """Run statements of another file in the context.

        :param line: of the scenario file, for what they commit.
        """
        above = self.file, self._sourced_at
        self.file, self._sourced_at = file, line
        try:
            yield
        finally:
            self.file, self._sourced_at = above
