"""A child process whose lines are read at once."""

from __future__ import annotations

import asyncio
import sys

from ticdc_producer.conformance.piped_process import PipedProcess


async def lines_of(program: str, content: bytes, number: int) -> tuple[list[bytes], int | None, list[str]]:
    """The first lines that a Python program prints, its status and the lines of its standard error."""
    child = PipedProcess([sys.executable, "-c", program])
    try:
        child.write(content)
        assert await child.output.arrived(number, 60)
        lines = child.output.take(number)
        child.close_input()
        assert await child.output.arrived(1, 60)
        assert child.output.take(1) == []  # the end
        await child.wait()
        return lines, child.status, child.error_lines(2)
    finally:
        await child.kill()


def test_lines_that_no_pipe_holds_arrive() -> None:
    """Both pipes are full on the way: the process blocks until its output is read, and so does its input."""
    sent = [b"x" * length for length in (0, 3, 1 << 20, 1, 3 << 20)]
    program = "import sys; [print(sys.stdin.readline(), end='', flush=True) for _ in range(5)]"
    content = b"".join(line + b"\n" for line in sent)
    assert asyncio.run(lines_of(program, content, 5)) == (sent, 0, [])


def test_the_last_line_may_lack_its_end() -> None:
    program = "import sys; print('one'); print('two', end=''); sys.stdout.close()"
    assert asyncio.run(lines_of(program, b"", 2))[0] == [b"one", b"two"]


def test_the_last_lines_of_the_standard_error_are_known() -> None:
    program = "import sys; [print(n, file=sys.stderr) for n in range(100_000)]; sys.exit(3)"
    assert asyncio.run(lines_of(program, b"", 0)) == ([], 3, ["99998", "99999"])


def test_a_closed_input_is_no_error() -> None:
    program = "import os, time; os.close(0); print('closed'); time.sleep(0.1)"

    async def write_after_the_end() -> bytes:
        child = PipedProcess([sys.executable, "-c", program])
        assert await child.output.arrived(1, 60)
        [line] = child.output.take(1)
        child.write(b"x" * (1 << 20))
        await child.kill()
        return line

    assert asyncio.run(write_after_the_end()) == b"closed"


def test_no_process_remains() -> None:
    async def killed() -> int | None:
        child = PipedProcess([sys.executable, "-c", "input()"])
        await child.kill()
        return child.status

    assert asyncio.run(killed()) == -9


def test_a_line_that_takes_too_long_is_not_awaited() -> None:
    async def lines() -> tuple[bool, list[bytes]]:
        child = PipedProcess([sys.executable, "-c", "print('one', flush=True); input()"])
        try:
            assert await child.output.arrived(1, 60)
            return await child.output.arrived(2, 0.1), child.output.take(2)
        finally:
            await child.kill()

    assert asyncio.run(lines()) == (False, [b"one"])
