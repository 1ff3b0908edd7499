"""Waits until a client disconnects."""

from __future__ import annotations

from fastapi import Request


async def disconnected(connection: Request) -> None:
    """Wait until the client of a request disconnects."""
    while (await connection.receive())["type"] != "http.disconnect":
        pass
