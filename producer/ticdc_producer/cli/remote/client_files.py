"""The files of a command whose work a service does: read here, written here, and watched with ``--watch``.

The service names them. It is believed only for paths that the command line has, too, and may write only those
that are the value of an option for a result: a service must not read or write other files of its clients.
Like ``server_client`` this module loads others when it needs them.
"""

from __future__ import annotations

import os
import sys
import time

from ticdc_producer.cli.remote.frames import frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

STDIN = "-"
_RESULTS = ("--out", "--html", "--junit-xml")
_POLL_SECONDS = 0.2


class ClientFiles:
    """The files of one command line.

    :param arguments: the command line.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._named = {
            part for argument in arguments for part in (argument, argument.partition("=")[2]) if part
        }
        self._results = {*_results(arguments)}
        self._requested: list[str] = []
        self._written: dict[str, str] = {}
        self._saves: Iterator[None] | None = None

    def request(self, path: str) -> None:
        """Note that the service requires a file or folder."""
        self._check_named(path)
        if path not in self._requested:
            self._requested.append(path)

    def content(self) -> bytes:
        """Return the frames with all that the service requires."""
        if self._saves is None:
            self._saves = saves(lambda: [path for path in self._requested if path != STDIN])
            next(self._saves)
        return b"".join([frame("prepared"), *(part for path in self._requested for part in _frames_of(path))])

    def wait_for_change(self) -> None:
        """Return when one of the files was saved after ``content`` read it first."""
        if self._saves is not None:
            next(self._saves)

    def check(self, kind: str, path: str, *, replace: bool) -> None:
        """Check, before the work, that its result can be written.

        :param kind: ``folder`` or ``report``.
        :raises ProducerError: if not.
        """
        self._check_result(path)
        if kind == "folder":
            _check_folder(path, replace)
        else:
            from pathlib import Path

            from ticdc_producer.reports.report import check_target

            check_target(Path(path))

    def write(self, path: str, entry: str, data: bytes) -> None:
        """Write a file, or a file of a folder; ``finish`` puts them in their places.

        :param entry: the file's path in the folder ``path``; empty: ``path`` is the file.
        :raises ProducerError: if it cannot be written.
        """
        self._check_result(path)
        parts = entry.split("/") if entry else []
        if any(part in ("", ".", "..") or "\\" in part or os.path.isabs(part) for part in parts):
            raise _foreign(f"{path}/{entry}")
        target = self._partial(path)
        file = os.path.join(target, *parts)
        try:
            os.makedirs(os.path.dirname(file) or ".", exist_ok=True)
            with open(file, "wb") as opened:
                opened.write(data)
        except OSError as error:
            from ticdc_producer.errors import FolderError

            raise FolderError(f"cannot be written: {error.strerror}", path=file) from None

    def finish(self) -> None:
        """Put all that was written in its place."""
        for path, partial in self._written.items():
            _remove_folder(path)
            os.replace(partial, path)
        self._written.clear()

    def _partial(self, path: str) -> str:
        if path not in self._written:
            self._written[path] = path.rstrip("/" + os.sep) + ".partial"
            _remove_folder(self._written[path])
        return self._written[path]

    def _check_named(self, path: str) -> None:
        if path not in self._named:
            raise _foreign(path)

    def _check_result(self, path: str) -> None:
        if path not in self._results:
            raise _foreign(path, "writes to a path that no option for results names")


def _results(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the paths that a command line names for results."""
    for option, following in zip(arguments, [*arguments[1:], ""], strict=True):
        name, equals, value = option.partition("=")
        if name in _RESULTS:
            yield value if equals else following


def _foreign(path: str, what: str = "asks for a file that was not named") -> Exception:
    from ticdc_producer.errors import EnvironmentFailure

    return EnvironmentFailure(f"the service {what}: {path[:200]!r}")


def _remove_folder(path: str) -> None:
    if os.path.isdir(path):
        import shutil

        shutil.rmtree(path)


def _frames_of(path: str) -> Iterator[bytes]:
    """Yield the content of a file, of all files of a folder, or why it cannot be read."""
    try:
        if path == STDIN:
            yield frame("file", path, "", sys.stdin.buffer.read())
        elif os.path.isdir(path):
            yield frame("folder", path)
            for folder, _, names in os.walk(path):
                for name in sorted(names):
                    file = os.path.join(folder, name)
                    entry = os.path.relpath(file, path).replace(os.sep, "/")
                    yield frame("file", path, entry, _content(file))
        else:
            yield frame("file", path, "", _content(path))
    except OSError as error:
        yield frame("unreadable", path, error.strerror or str(error))


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _check_folder(path: str, replace: bool) -> None:
    is_folder = os.path.isdir(path) and not os.path.islink(path)
    if not os.path.lexists(path) or (is_folder and not os.listdir(path)):
        return
    if not replace or os.path.islink(path) or not os.path.isfile(os.path.join(path, "manifest.json")):
        from ticdc_producer.errors import FolderError

        what = "this is not a golden folder" if replace else "the folder already exists"
        hint = "name a new one" if replace else "name a new one, or use --replace"
        raise FolderError(what, path=path, hint=hint)


def saves(
    files: Callable[[], Sequence[str | Path]], pause: Callable[[float], object] = time.sleep
) -> Iterator[None]:
    """Yield at once, and after each change of one of the files.

    A file that is missing for a moment, because an editor replaces it, has not changed yet.

    :param files: gives the watched files; called before each yield, so that a change after it counts.
    :param pause: waits for a number of seconds.
    """
    watched = files()
    seen = _states(watched)
    yield
    while True:
        states = _states(watched)
        if any(seen.get(file) != state for file, state in states.items()):
            watched = files()
            seen = states | _states(watched)
            yield
        else:
            pause(_POLL_SECONDS)


def _states(files: Sequence[str | Path]) -> dict[str | Path, tuple[int, int]]:
    """Return time and size of the files that exist."""
    states: dict[str | Path, tuple[int, int]] = {}
    for file in files:
        try:
            state = os.stat(file)
        except OSError:
            continue
        states[file] = state.st_mtime_ns, state.st_size
    return states
