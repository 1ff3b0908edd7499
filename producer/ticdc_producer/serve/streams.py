"""The streams that requests have opened: copies, of which the oldest are closed."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from secrets import token_hex

from ticdc_producer.errors import RefusedRequest
from ticdc_producer.runs.copies.stream_location import StreamLocation
from ticdc_producer.serve.attachments import source_of
from ticdc_producer.serve.request_process import RequestProcess
from ticdc_producer.serve.settings import ServeSettings
from ticdc_producer.serve.stream_works import FOLDER_PREFIX, UNPACKED, CopyStream, OpenedStream, not_open
from ticdc_producer.serve.tasks.work import Work

_OTHERS = re.compile(r"[^A-Za-z0-9._-]+")
_ENDING = re.compile(r"(?:\.tar)?\.[^.]*$")
_MOST_RECEIVED = 2
"""Files that arrive at the same time."""


class Streams:
    """The opened streams.

    :param folder: gets a folder for each.
    :param settings: those of the service, as of now.
    :param own_settings: those for other processes, which name no streams.
    :param copies: the process that copies, verifies and summarises streams.
    :param reads: the process that reads copies.
    """

    def __init__(
        self,
        folder: Path,
        settings: Callable[[], ServeSettings],
        own_settings: Callable[[], ServeSettings],
        copies: RequestProcess,
        reads: RequestProcess,
    ) -> None:
        self._folder, self._copies, self._reads = folder, copies, reads
        self._settings, self._own_settings = settings, own_settings
        self._opened: dict[str, OpenedStream] = {}
        self._results: dict[tuple[str, type[Work]], dict[str, object]] = {}
        self._lock = threading.Lock()
        self._receiving = threading.Semaphore(_MOST_RECEIVED)

    def attach(self, name: str, protocol: str, is_abandoned: Callable[[], bool]) -> dict[str, object]:
        """Copy a stream that the service was started with, and return what its views begin with.

        :param is_abandoned: whether the client has disconnected.
        :raises RefusedRequest: for another name.
        :raises ProducerError: for a stream that cannot be read.
        """
        source = source_of(name, protocol, self._settings())
        return self._open(token_hex(8), source, is_abandoned, is_posted=False)

    async def received(self, parts: AsyncIterator[bytes]) -> Path:
        """Write a file of messages that a client sends, and return its path.

        :raises RefusedRequest: if too many files arrive.
        """
        if not self._receiving.acquire(blocking=False):
            hint = "try again when they have arrived"
            raise RefusedRequest(f"{_MOST_RECEIVED} files arrive already", status=429, hint=hint)
        path = self._folder / f"received-{token_hex(8)}"
        try:
            with path.open("wb") as file:
                async for part in parts:
                    file.write(part)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        finally:
            self._receiving.release()
        return path

    def post(
        self, path: Path, name: str, protocol: str, is_abandoned: Callable[[], bool]
    ) -> dict[str, object]:
        """Copy a file of messages or an archive that a client has sent, as ``attach``; the file is removed.

        :param name: of the file.
        """
        registry = self._settings().schema_registry
        source = StreamLocation(
            path=str(path),
            protocol=protocol,
            name=_OTHERS.sub("-", _ENDING.sub("", name) or name).strip("-.")[:64] or "messages",
            schema_registry=registry,
        )
        try:
            return self._open(token_hex(8), source, is_abandoned, is_posted=True)
        finally:
            path.unlink(missing_ok=True)

    def _open(
        self, number: str, source: StreamLocation, is_abandoned: Callable[[], bool], *, is_posted: bool
    ) -> dict[str, object]:
        folder = self._folder / f"{FOLDER_PREFIX}{number}"
        folder.mkdir()
        settings = self._own_settings()
        stream = OpenedStream(source=source, folder=folder, is_posted=is_posted, settings=settings)
        try:
            content = self._copies.do(CopyStream(stream=stream), is_abandoned).content
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if is_posted:  # the file is removed
            golden = folder / UNPACKED
            stream = replace(stream, source=replace(source, path=str(golden) if golden.is_dir() else ""))
        with self._lock:
            self._opened[number] = stream
            oldest = [*self._opened][: -settings.limits.streams]
        for other in oldest:
            with suppress(RefusedRequest):  # a client has closed it meanwhile
                self.close(other)
        return {"id": number, **content}

    def opened(self, number: str) -> OpenedStream:
        """Return an opened stream.

        :raises RefusedRequest: if it is not open.
        """
        with self._lock:
            if number not in self._opened:
                raise not_open(number)
            return self._opened[number]

    def read(self, work: Work) -> dict[str, object]:
        """Return the result of a work on a copy, which is soon done."""
        return self._reads.do(work).content

    def computed(self, number: str, work: Work) -> dict[str, object]:
        """Return the result of a work that reads all of a copy; it is done once."""
        key = number, type(work)
        if (known := self._results.get(key)) is not None:
            return known
        content = self._copies.do(work).content
        with self._lock:
            if number in self._opened:  # what is closed is not kept
                self._results[key] = content
        return content

    def close(self, number: str) -> None:
        """Remove an opened stream with its copy.

        :raises RefusedRequest: if it is not open.
        """
        with self._lock:
            if number not in self._opened:
                raise not_open(number)
            stream = self._opened.pop(number)
            for key in [key for key in self._results if key[0] == number]:
                del self._results[key]
        shutil.rmtree(stream.folder, ignore_errors=True)
