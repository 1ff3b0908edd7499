"""Work for a client that may disconnect."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from fastapi import Request
from starlette.concurrency import run_in_threadpool

_Result = TypeVar("_Result")


async def abandonable(connection: Request, work: Callable[[Callable[[], bool]], _Result]) -> _Result:
    """Return the result of a work in a thread.

    :param work: gets the function that returns whether the client has disconnected.
    """
    gone = asyncio.ensure_future(disconnected(connection))
    try:
        return await run_in_threadpool(work, gone.done)
    finally:
        gone.cancel()


async def disconnected(connection: Request) -> None:
    """Wait until the client of a request disconnects."""
    while (await connection.receive())["type"] != "http.disconnect":
        pass
