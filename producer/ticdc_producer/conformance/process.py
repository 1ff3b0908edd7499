"""The testee: a process that answers each line on its standard input with a line."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shlex
from collections.abc import Iterable, Sequence
from time import perf_counter

import msgspec

from ticdc_producer.conformance.child import MAX_LINE_BYTES, ChildProcess
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
            raise ConformanceError("the command is empty", where="--testee")
        self._process: ChildProcess | None = None
        self._all_answered: float | None = None
        self.idle = 0.0

    async def ask(self, request: AnyRequest) -> bytes:
        """Send a request and return the line of the answer.

        :raises TesteeCrashed: if no answer arrives in time; the next request starts a new process.
        :raises TesteeStartError: if the program does not start.
        """
        process = self._process or await self._start()
        try:
            return await asyncio.wait_for(_send_and_receive(process, request), self._timeout)
        except TimeoutError:
            await self.close()
            raise TesteeCrashed(f"no answer within {self._timeout:g} s") from None
        except ValueError:  # a line over the limit
            await self.close()
            raise TesteeCrashed(f"an answer of more than {MAX_LINE_BYTES >> 20} MiB") from None
        except OSError:
            raise TesteeCrashed(await self._ended(process)) from None

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
        lines: list[bytes] = []
        try:
            async with asyncio.timeout(self._timeout) as limit:
                for _ in requests:
                    if not process.output.has_next:
                        limit.reschedule(asyncio.get_running_loop().time() + self._timeout)
                    lines.append(await process.output.next())
        except TimeoutError:
            await self.close()
            return lines, f"no answer within {self._timeout:g} s"
        except ValueError:
            await self.close()
            return lines, f"an answer of more than {MAX_LINE_BYTES >> 20} MiB"
        except OSError:
            return lines, await self._ended(process)
        finally:
            self._all_answered = perf_counter()
        return lines, ""

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

    async def _start(self) -> ChildProcess:
        try:
            process = ChildProcess(self._arguments)
        except OSError as error:
            raise TesteeStartError(
                f"the testee cannot be started: {error.strerror}", command=self._command
            ) from None
        self._process = process
        await self._greet(process)
        return process

    async def _greet(self, process: ChildProcess) -> None:
        try:
            line = await asyncio.wait_for(_send_and_receive(process, Hello(VERSION)), START_SECONDS)
        except TimeoutError:
            what = f"the testee does not answer the greeting within {START_SECONDS:g} s"
        except (OSError, ValueError):
            what = f"the testee does not greet: {await self._ended(process)}"
        else:
            if is_hello(line):
                return
            answer = line[:_MAX_GREETING].decode(errors="backslashreplace").rstrip("\r\n")
            what = f"the testee answers the greeting with {json.dumps(answer, ensure_ascii=False)}"
        await self.close()
        hint = f'its first answer has to be {{"hello": {VERSION}}}, on a line of its own'
        raise TesteeStartError(what, command=self._command, hint=hint)

    async def _ended(self, process: ChildProcess) -> str:
        """Return why a process has closed its output: its exit status and the end of stderr."""
        with contextlib.suppress(TimeoutError):  # it may have closed its output without ending
            await asyncio.wait_for(process.wait(), self._timeout)
        status, last_lines = process.status, process.error_lines(_LAST_LINES)
        await self.close()
        how = "it closed its output" if status is None else f"it ended with status {status}"
        return "\n".join([how, *last_lines])


async def _send_and_receive(process: ChildProcess, content: object) -> bytes:
    """Send one line and read one line.

    :raises OSError: if the process has closed its output.
    """
    _write(process, [content])
    return await process.output.next()


def _write(process: ChildProcess, contents: Iterable[object]) -> None:
    """Write lines."""
    process.write(b"".join(_ENCODER.encode(content) + b"\n" for content in contents))
