"""What the options of several protocols say of messages that are too large."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from ticdc_producer.errors import ChangefeedError, nearest

DEFAULT_MAX_MESSAGE_BYTES = 10 << 20

LargeMessageHandle: TypeAlias = Literal["none", "handle-key-only", "claim-check"]


def check_large_message_handle(chosen: str) -> None:
    """Refuse a way to handle large messages that there is not.

    :raises ChangefeedError: with the nearest there is.
    """
    if chosen not in get_args(LargeMessageHandle):
        raise ChangefeedError(
            f"unknown large-message-handle-option {chosen!r}",
            parameter="large-message-handle-option",
            hint=nearest(chosen, get_args(LargeMessageHandle)),
        )
