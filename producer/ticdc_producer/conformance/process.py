"""The testee: a process that answers lines with lines, for as long as it does."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
from asyncio.subprocess import PIPE, Process
from collections import deque
from typing import Any

import msgspec
import psutil

from ticdc_producer.conformance.wire import VERSION, ApplyRequest, Hello, Request, is_hello
from ticdc_producer.errors import ConformanceError, NoTesteeError

START_SECONDS = 60.0
"""How long a testee may take to greet: a JVM on a busy machine takes its time."""
LONGEST_LINE = 64 << 20
_LAST_LINES = 10
_ENCODER = msgspec.json.Encoder()


class Broken(Exception):
    """The testee did not answer; it is gone."""


class Testee:
    """Starts the program when it is asked, and again after it broke.

    :param command: with its arguments, as a shell splits them; no shell runs it.
    :param timeout: seconds for one answer.
    :raises ConformanceError: for a command that cannot be split.
    """

    def __init__(self, command: str, timeout: float) -> None:
        self._command, self._timeout = command, timeout
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise ConformanceError(f"the command cannot be split: {error}", where=command) from None
        if not self._words:
            raise ConformanceError("the command is empty", where="--testee")
        self._process: Process | None = None
        self._said: deque[str] = deque(maxlen=_LAST_LINES)
        self._listener: asyncio.Task[None] | None = None

    async def ask(self, request: Request | ApplyRequest) -> bytes:
        """The line that a request is answered with.

        :raises Broken: if none comes in time; the next request gets a fresh process.
        :raises NoTesteeError: if the program does not start.
        """
        process = self._process or await self._start()
        try:
            return await asyncio.wait_for(_exchange(process, request), self._timeout)
        except TimeoutError:
            await self.close()
            raise Broken(f"no answer within {self._timeout:g} s") from None
        except ValueError:  # asyncio's word for a line over the limit
            await self.close()
            raise Broken(f"an answer of more than {LONGEST_LINE >> 20} MiB") from None
        except OSError:
            raise Broken(await self._ended(process)) from None

    async def finish(self) -> None:
        """Let the process end by itself: its input ends."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), self._timeout)
        await self.close()

    async def close(self) -> None:
        """End the process and all that it started."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            _kill_tree(process.pid)
        await process.wait()
        if self._listener is not None:
            self._listener.cancel()

    async def _start(self) -> Process:
        self._said.clear()
        try:
            process = await asyncio.create_subprocess_exec(
                *self._words, stdin=PIPE, stdout=PIPE, stderr=PIPE, limit=LONGEST_LINE
            )
        except OSError as error:
            raise NoTesteeError(
                f"the testee cannot be started: {error.strerror}", command=self._command
            ) from None
        self._process = process
        self._listener = asyncio.create_task(self._listen(process))
        await self._greet(process)
        return process

    async def _greet(self, process: Process) -> None:
        try:
            line = await asyncio.wait_for(_exchange(process, Hello(VERSION)), START_SECONDS)
        except TimeoutError:
            what = f"the testee does not answer the greeting within {START_SECONDS:g} s"
        except (OSError, ValueError):
            what = f"the testee does not greet: {await self._ended(process)}"
        else:
            if is_hello(line):
                return
            what = f"the testee answers the greeting with {line[:80]!r}"
        await self.close()
        hint = f'its first answer has to be {{"hello": {VERSION}}}, on a line of its own'
        raise NoTesteeError(what, command=self._command, hint=hint)

    async def _listen(self, process: Process) -> None:
        """Keep the last lines of stderr: they say why a testee ended."""
        if process.stderr is None:
            return
        while line := await _line(process.stderr):
            self._said.append(line.decode(errors="backslashreplace").rstrip())

    async def _ended(self, process: Process) -> str:
        """Why a process that said nothing more is gone."""
        with contextlib.suppress(TimeoutError):  # it may have closed its output and live on
            await asyncio.wait_for(process.wait(), self._timeout)
        status = process.returncode
        if self._listener is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._listener), self._timeout)
        await self.close()
        how = "it closed its output" if status is None else f"it ended with status {status}"
        return "\n".join([how, *self._said])


async def _exchange(process: Process, content: Any) -> bytes:
    """One line there, one line back.

    :raises OSError: if the other side is gone.
    """
    if process.stdin is None or process.stdout is None:
        raise OSError("no pipes")
    process.stdin.write(_ENCODER.encode(content) + b"\n")
    await process.stdin.drain()
    line = await process.stdout.readline()
    if not line:
        raise ConnectionError("end of output")
    return line


async def _line(stream: asyncio.StreamReader) -> bytes:
    try:
        return await stream.readline()
    except ValueError:
        return b"(a long line)\n"


def _kill_tree(pid: int) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        parent = psutil.Process(pid)
        for process in (*parent.children(recursive=True), parent):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
