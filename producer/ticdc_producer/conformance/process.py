"""The testee: a process that answers each line on its standard input with a line."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shlex
from collections.abc import Iterable, Sequence
from time import perf_counter

import msgspec

from ticdc_producer.conformance.piped_process import MAX_LINE_BYTES, PipedProcess
from ticdc_producer.conformance.wire import VERSION, AnyRequest, Hello, is_hello
from ticdc_producer.errors import ConformanceError, TesteeStartError

START_SECONDS = 60.0
"""Timeout of the greeting; a JVM on a busy machine starts slowly."""
_LAST_LINES = 10
_MAX_GREETING = 80
_ENCODER = msgspec.json.Encoder()


class TesteeCrashed(Exception):
    """The testee did not answer, and its process has ended."""


class Testee:
    """The program that is tested: it starts with the first request, and again after it crashed.

    :param command: the command with its arguments, split like in a shell; no shell is used.
    :param timeout: seconds for one answer.
    :raises ConformanceError: for a command that cannot be split.
    :ivar idle: seconds between the last answer to requests of ``ask_all`` and the next such requests.
    """

    def __init__(self, command: str, timeout: float) -> None:
        self._command, self._timeout = command, timeout
        try:
            self._arguments = shlex.split(command)
        except ValueError as error:
            raise ConformanceError(f"the command cannot be split: {error}", where=command) from None
        if not self._arguments:
            raise ConformanceError("`command` is empty").about("command")
        self._process: PipedProcess | None = None
        self._all_answered: float | None = None
        self.idle = 0.0

    async def ask(self, request: AnyRequest) -> bytes:
        """Send a request and return the line of the answer.

        :raises TesteeCrashed: if no answer arrives in time; the next request starts a new process.
        :raises TesteeStartError: if the program does not start.
        """
        process = self._process or await self._start()
        _write(process, [request])
        lines, failure = await self._answers(process, 1, self._timeout)
        if failure:
            raise TesteeCrashed(failure)
        return lines[0]

    async def ask_all(self, requests: Sequence[object]) -> tuple[list[bytes], str]:
        """Send requests at once, while the answers are read.

        :returns: the lines of the answers, and the reason if they are fewer than the requests; then the next
            request starts a new process.
        :raises TesteeStartError: if the program does not start.
        """
        process = self._process or await self._start()
        _write(process, requests)
        if self._all_answered is not None:
            self.idle += perf_counter() - self._all_answered
        lines, failure = await self._answers(process, len(requests), self._timeout)
        self._all_answered = perf_counter()
        return lines, failure

    async def _answers(self, process: PipedProcess, number: int, seconds: float) -> tuple[list[bytes], str]:
        """Read answers; after a failure the next request starts a new process.

        :param seconds: for one answer.
        :returns: the lines, and the reason if they are fewer.
        """
        in_time = await process.output.arrived(number, seconds)
        lines = process.output.take(number)
        if len(lines) == number:
            return lines, ""
        if in_time and not process.output.too_long:
            return lines, await self._ended(process)
        await self.close()
        too_long = f"an answer of more than {MAX_LINE_BYTES >> 20} MiB"
        return lines, too_long if process.output.too_long else f"no answer within {seconds:g} s"

    async def finish(self) -> None:
        """Close the process's input and wait until it ends by itself."""
        if self._process is not None:
            self._process.close_input()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), self._timeout)
        await self.close()

    async def close(self) -> None:
        """Kill the process and its children."""
        process, self._process = self._process, None
        if process is not None:
            await process.kill()

    async def _start(self) -> PipedProcess:
        try:
            process = PipedProcess(self._arguments)
        except OSError as error:
            raise TesteeStartError(
                f"the testee cannot be started: {error.strerror}", command=self._command
            ) from None
        self._process = process
        await self._greet(process)
        return process

    async def _greet(self, process: PipedProcess) -> None:
        _write(process, [Hello(VERSION)])
        lines, failure = await self._answers(process, 1, START_SECONDS)
        if lines and is_hello(lines[0]):
            return
        what = f"the testee does not greet: {failure}"
        if lines:
            answer = lines[0][:_MAX_GREETING].decode(errors="backslashreplace").rstrip("\r\n")
            what = f"the testee answers the greeting with {json.dumps(answer, ensure_ascii=False)}"
        await self.close()
        hint = f'its first answer has to be {{"hello": {VERSION}}}, on a line of its own'
        raise TesteeStartError(what, command=self._command, hint=hint)

    async def _ended(self, process: PipedProcess) -> str:
        """Return why a process has closed its output: its exit status and the end of stderr."""
        with contextlib.suppress(TimeoutError):  # it may have closed its output without ending
            await asyncio.wait_for(process.wait(), self._timeout)
        status, last_lines = process.status, process.error_lines(_LAST_LINES)
        await self.close()
        how = "it closed its output" if status is None else f"it ended with status {status}"
        return "\n".join([how, *last_lines])


def _write(process: PipedProcess, contents: Iterable[object]) -> None:
    """Write lines."""
    process.write(b"".join(_ENCODER.encode(content) + b"\n" for content in contents))
