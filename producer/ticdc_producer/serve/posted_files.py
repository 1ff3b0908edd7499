"""What a verification and ``decode`` read: a topic of the service's Kafka, or posted files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ticdc_producer.errors import FolderError, ProducerError, RefusedRequest
from ticdc_producer.serve.posted import on_kafka, properties_for
from ticdc_producer.serve.settings import ServeSettings
from ticdc_producer.serve.submission import check_sink_uri
from ticdc_producer.targets.golden import read as golden

_ENTRY = re.compile(r"(?:[^/\\\0]{1,250}/)?[^/\\\0]{1,250}")
_MOST_FILES = 1000


@dataclass(frozen=True)
class PostedFiles:
    """Files of a client.

    :param name: how the client calls the file or folder; it is part of messages and never opened.
    :param files: their content by their paths in the folder; the path of a single file is empty.
    """

    name: str
    files: Mapping[str, bytes]

    @contextmanager
    def written(self, path: Path) -> Iterator[Path]:
        """The files, written to a path of the service that does not exist yet.

        :raises RefusedRequest: for files that this service does not read.
        :raises ProducerError: what the block raises, with the client's name instead of the path.
        """
        if not self.files:
            raise FolderError("there is no such folder or file, or it is empty", path=self.name)
        for entry in self.files:
            self._check(entry)
        try:
            self._write(path)
            if not path.is_file():
                self._check_manifest(path)
            yield path
        except ProducerError as error:
            error.where = error.where.replace(str(path), self.name)
            raise

    def _check(self, entry: str) -> None:
        if not entry and len(self.files) == 1:
            return
        inside = _ENTRY.fullmatch(entry) and not {".", ".."} & set(entry.split("/"))
        if not inside or len(self.files) > _MOST_FILES:
            raise RefusedRequest("this is not a file of a golden folder", status=422, where=entry[:200])
        if entry.endswith(".parquet"):
            what, hint = "the service reads small folders", "run the command without --server"
            raise RefusedRequest(what, status=422, where=f"{self.name}/{entry}", hint=hint)

    def _write(self, path: Path) -> None:
        if set(self.files) == {""}:
            path.write_bytes(self.files[""])
            return
        path.mkdir()
        for entry, content in self.files.items():
            file = path / entry
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(content)

    def _check_manifest(self, folder: Path) -> None:
        """Check that the changefeed of a folder does not let the service read from another machine."""
        if golden.changefeed(folder, golden.manifest(folder)).schema_registry:
            what = "schema-registry is set where the service is started, not by a request"
            raise RefusedRequest(what, status=403, where=f"{self.name}/manifest.json")


@contextmanager
def source(
    sink_uri: str, posted: PostedFiles | None, folder: Path, settings: ServeSettings
) -> Iterator[dict[str, Any]]:
    """What is read, as arguments of ``verify`` and ``decode``.

    :param posted: read instead of the topic.
    :param folder: gets the posted files.
    :raises RefusedRequest: for a topic or files that this service does not read.
    """
    if posted is None:
        check_sink_uri(sink_uri, settings, "sink URI")
        uri = on_kafka(sink_uri, settings)
        yield {"sink_uri": uri, "kafka_properties": properties_for(uri, settings)}
        return
    with posted.written(folder / "posted") as path:
        yield {"file" if path.is_file() else "folder": path}
