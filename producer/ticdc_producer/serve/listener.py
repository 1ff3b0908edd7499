"""The socket of a service: clients may connect to it, and wait, before the service has loaded its modules."""

from __future__ import annotations

import socket

from ticdc_producer.errors import EnvironmentFailure
from ticdc_producer.serve.settings import ServeSettings


def listen(settings: ServeSettings) -> socket.socket:
    """A socket that accepts connections.

    :raises EnvironmentFailure: if the address is taken.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen()  # clients may connect from now on, and wait
    except OSError as error:
        listener.close()
        what = f"cannot listen on {settings.host}:{settings.port}: {error.strerror}"
        raise EnvironmentFailure(what, hint="choose another --port") from None
    listener.set_inheritable(False)
    return listener


def url_of(settings: ServeSettings, listener: socket.socket) -> str:
    """The URL of the service."""
    port = listener.getsockname()[1]
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{port}"
