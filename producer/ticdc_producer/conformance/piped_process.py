"""A child process whose pipes are read and written on the event loop.

It does without asyncio's own child processes: these take a thread per process on Python 3.11, and several
objects per pipe. A level that kills its testee starts thousands of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence
from subprocess import PIPE, Popen
from typing import IO

MAX_LINE_BYTES = 64 << 20
_READ_BYTES = 1 << 16
"""What a pipe holds. More would be allocated by the operating system, page by page for each line."""
_LAST_BYTES = 1 << 16
"""Bytes of the standard error that are stored."""


class PipedProcess:
    """A process with pipes, in a session of its own.

    :param arguments: the program and its arguments.
    :raises OSError: if it cannot be started.
    :ivar output: the lines of its standard output.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._loop = asyncio.get_running_loop()
        self._popen = Popen(
            arguments, stdin=PIPE, stdout=PIPE, stderr=PIPE, bufsize=0, start_new_session=True
        )
        self._input, output, self._errors = map(
            _nonblocking, (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        )
        self.output = Lines(output)
        self._unsent = bytearray()
        self._last_errors = b""
        self._loop.add_reader(self._errors, self._read_errors)

    @property
    def status(self) -> int | None:
        """The exit status; None while it runs."""
        return self._popen.poll()

    def write(self, content: bytes) -> None:
        """Write to the standard input: what the pipe accepts at once, the rest later.

        Nothing happens if the process has closed its input. The end of its output shows that, too.
        """
        if self._unsent:
            self._unsent += content
            return
        self._unsent += content[_written(self._input, content) :]
        if self._unsent:
            self._loop.add_writer(self._input, self._write_rest)

    def _write_rest(self) -> None:
        del self._unsent[: _written(self._input, self._unsent)]
        if not self._unsent:
            self._loop.remove_writer(self._input)

    def _read_errors(self) -> None:
        content = _read(self._errors)
        if content == b"":
            self._loop.remove_reader(self._errors)
        self._last_errors = (self._last_errors + (content or b""))[-_LAST_BYTES:]

    def error_lines(self, number: int) -> list[str]:
        """Return the last lines of its standard error so far."""
        while content := _read(self._errors):
            self._last_errors = (self._last_errors + content)[-_LAST_BYTES:]
        text = self._last_errors.decode(errors="backslashreplace")
        return [line.rstrip() for line in text.splitlines()[-number:]]

    def close_input(self) -> None:
        """Close the standard input."""
        if self._popen.stdin is not None and not self._popen.stdin.closed:
            self._loop.remove_writer(self._input)
            self._popen.stdin.close()

    async def wait(self) -> None:
        """Wait until the process has ended."""
        if self._popen.poll() is not None:
            return
        try:
            ended = os.pidfd_open(self._popen.pid)
        except (AttributeError, OSError):  # missing on macOS and old versions of Linux
            await asyncio.to_thread(self._popen.wait)
            return
        try:
            await _readable(ended)
        finally:
            os.close(ended)
        self._popen.wait()

    async def kill(self) -> None:
        """Kill the process and its children, and close the pipes.

        Looking for children among all processes would take longer than a restart.
        """
        self._loop.remove_reader(self._errors)
        if self._popen.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._popen.pid, signal.SIGKILL)
        await self.wait()
        self.close_input()
        for pipe in (self._popen.stdout, self._popen.stderr):
            if pipe is not None:
                pipe.close()


class Lines:
    """The lines of a pipe. A program that answers slowly wakes nobody before all awaited lines are there.

    :ivar too_long: whether a line has more than ``MAX_LINE_BYTES``; nothing is read after it.
    """

    def __init__(self, pipe: int) -> None:
        self._pipe, self._loop = pipe, asyncio.get_running_loop()
        self._parts: list[bytes] = []
        self._complete = self._open_bytes = 0
        self._number, self._seconds, self._latest = 0, 0.0, 0.0
        self._awaited: asyncio.Future[bool] = self._loop.create_future()
        self._ended = self.too_long = False

    async def arrived(self, number: int, seconds: float) -> bool:
        """Wait until a number of lines has arrived, or the pipe has ended.

        :param seconds: longest time until the first and between two of them.
        :return: False if a line took longer.
        """
        self._number, self._seconds, self._latest = number, seconds, self._loop.time()
        if self._is_enough:
            return True
        self._awaited = self._loop.create_future()
        self._loop.add_reader(self._pipe, self._read)
        self._timer = self._loop.call_later(seconds, self._expire)
        try:
            return await self._awaited
        finally:
            self._timer.cancel()
            self._loop.remove_reader(self._pipe)

    def take(self, number: int) -> list[bytes]:
        """Remove the next lines and return them, without their ends; fewer if no more have arrived."""
        number = min(number, self._complete)
        *lines, rest = b"".join(self._parts).split(b"\n", number)
        self._parts, self._complete = [rest], self._complete - number
        return lines

    @property
    def _is_enough(self) -> bool:
        return self._ended or self.too_long or self._complete >= self._number

    def _read(self) -> None:
        """Store what has arrived. It is not split before it is enough: a slow program writes line by line."""
        content = _read(self._pipe)
        if content is None:
            return
        self._ended = not content
        if self._ended and self._open_bytes:  # the last line lacks its end
            content = b"\n"
        self._parts.append(content)
        if ends := content.count(b"\n"):
            self._complete, self._open_bytes = self._complete + ends, 0
            self._latest = self._loop.time()
        self._open_bytes += len(content) - 1 - content.rfind(b"\n")
        self.too_long = self._open_bytes > MAX_LINE_BYTES
        if self._is_enough and not self._awaited.done():
            self._awaited.set_result(True)

    def _expire(self) -> None:
        """End the wait, unless a line has arrived since it was limited."""
        end = self._latest + self._seconds
        if end > self._loop.time():
            self._timer = self._loop.call_at(end, self._expire)
        elif not self._awaited.done():
            self._awaited.set_result(False)


def _nonblocking(pipe: IO[bytes] | None) -> int:
    if pipe is None:
        raise OSError("no pipe")
    os.set_blocking(pipe.fileno(), False)
    return pipe.fileno()


def _read(pipe: int) -> bytes | None:
    """Read what has arrived; None if that is nothing, and nothing but the end of the pipe is empty."""
    try:
        return os.read(pipe, _READ_BYTES)
    except BlockingIOError:
        return None


def _written(pipe: int, content: bytes | bytearray) -> int:
    """Write what a pipe accepts; return the number of bytes, all if it is closed."""
    try:
        return os.write(pipe, content)
    except BlockingIOError:
        return 0
    except OSError:
        return len(content)


async def _readable(descriptor: int) -> None:
    """Wait until something can be read."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_reader(descriptor, ready.set_result, None)
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)
