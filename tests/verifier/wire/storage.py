"""The folder of a storage sink, as its rows, and the verdict on any other rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import ticdc_producer
from tests.verifier.wire import csv_text, forms
from tests.verifier.wire.forms import Form
from tests.verifier.wire.topic import SCENARIOS, Row
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.runs.run_options import ignore_status
from ticdc_producer.runs.targets.storage import verify_storage
from ticdc_producer.runs.verification import ignore_verdict
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.targets.storage.read import list_storage, storage_rows
from ticdc_producer.verifier.verdict import Verdict


@dataclass(frozen=True)
class _Files:
    """Data files of a protocol.

    :param end: what follows a row; a row of CSV ends with its terminator.
    """

    form: Form
    extension: str
    end: bytes


_FILES = {"csv": _Files(forms.CSV, "csv", b""), "canal-json": _Files(forms.JSON, "json", b"\r\n")}
FILE_PROTOCOLS = tuple(_FILES)
_OVERRIDES = [f"changefeed.sink.csv.{option}=true" for option in csv_text.OPTIONS]
_OTHER_DATE = "2030-01-01"


@dataclass(frozen=True)
class StorageFolder:
    """The rows of a scenario in files.

    :param folder: the folder, whose data files are written again for each verdict.
    :param messages: the rows, with their directory as ``topic``.
    """

    job: Job
    folder: Path
    messages: Sequence[Row]

    @property
    def _files(self) -> _Files:
        return _FILES[self.job.changefeed.protocol]

    @property
    def form(self) -> Form:
        return self._files.form

    def delivered(self, rows: Sequence[Row]) -> list[Row]:
        """Return rows as a reader of their files gets them.

        Files have no keys, and no partitions: in place of another partition a row has another date.
        """
        directories: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            version, _, date = row["topic"].rpartition("/")
            directories[f"{version}/{_OTHER_DATE if row['partition'] else date}"].append(row)
        return [
            {**row, "topic": directory, "partition": 0, "offset": number, "key": None}
            for directory, of_directory in sorted(directories.items())
            for number, row in enumerate(of_directory)
        ]

    def verdict(self, rows: Sequence[Row]) -> Verdict:
        """Verify files with these rows in place of those of the run."""
        changefeed = self.job.changefeed
        for file in list_storage(changefeed.sink_uri.path, changefeed.protocol).data:
            (self.folder / file.directory / file.name).unlink()
        contents: dict[str, bytes] = defaultdict(bytes)
        for row in self.delivered(rows):
            contents[row["topic"]] += (row["value"] or b"") + self._files.end
        name = f"CDC{1:020}.{self._files.extension}"
        for directory, content in contents.items():
            index = self.folder / directory / "meta" / "CDC.index"
            index.parent.mkdir(parents=True, exist_ok=True)
            index.write_text(f"{name}\n")
            (self.folder / directory / name).write_bytes(content)
        return verify_storage(
            changefeed, self.job, engine="local", on_status=ignore_status, on_verdict=ignore_verdict
        )


def storage_folder(scenario: str, protocol: str, folder: Path) -> StorageFolder:
    """Run a shipped scenario into files.

    :param protocol: one of ``FILE_PROTOCOLS``.
    :param folder: a new one.
    """
    path, uri = SCENARIOS / f"{scenario}.yaml", f"file://{folder}?protocol={protocol}"
    assert ticdc_producer.run(path, sink_uri=uri, overrides=_OVERRIDES, engine="local").ok
    job = prepare(path, sink_uri=uri, overrides=_OVERRIDES)
    listing = list_storage(job.changefeed.sink_uri.path, protocol)
    rows = storage_rows(LocalEngine(), listing, protocol, job.options)
    messages = [row for batch in rows.batches() for row in batch.to_pylist()]
    files = StorageFolder(job, folder, messages)
    return StorageFolder(job, folder, files.delivered(messages))
