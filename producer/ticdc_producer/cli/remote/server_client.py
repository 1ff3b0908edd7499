"""``--server``: a command line is sent to a running service, which parses it and answers with the output.

This module loads no other before it needs it, not even of the standard library: ``http.client`` costs five
starts of Python, ``json``, ``re``, ``socket`` and ``typing`` half a start or more each.
"""

from __future__ import annotations

import os
import sys

from ticdc_producer.cli.remote.frames import (
    CONTENT_TYPE,
    MOST_BYTES,
    PATH,
    URL_VARIABLE,
    frame,
    parts_of,
    read_frames,
    text_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ticdc_producer.cli.remote.client_files import ClientFiles

COMMANDS = ("run", "verify", "decode")
TOKEN_VARIABLE = "TICDC_PRODUCER_TOKEN"  # noqa: S105  # it names the variable, and is not a token
_TIMEOUT_SECONDS = 630
_INTERRUPTED = 130


def server_of(arguments: list[str]) -> str | None:
    """Return the URL of the service that a command line addresses; None if it runs here."""
    if not arguments or arguments[0] not in COMMANDS or {"-h", "--help"} & set(arguments):
        return None
    if arguments[:2] == ["verify", "state"]:
        return None
    url = os.environ.get(URL_VARIABLE) or None
    for index, argument in enumerate(arguments):
        if argument.startswith("--server="):
            url = argument.removeprefix("--server=")
        elif argument == "--server" and index + 1 < len(arguments):
            url = arguments[index + 1]
    return url


def run_on_server(url: str, arguments: list[str]) -> int:
    """Send a command line to a service, print its answers, and read and write the files that it names.

    :return: the exit code; errors are printed.
    """
    try:
        return _Command(_Service(url), arguments).run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return _INTERRUPTED
    except Exception as error:
        from ticdc_producer.errors import ProducerError

        if not isinstance(error, ProducerError):
            raise
        from ticdc_producer.cli.options import fail

        return fail(error)


class _Command:
    """A command line whose work a service does."""

    def __init__(self, service: _Service, arguments: list[str]) -> None:
        self._service = service
        self._arguments = arguments
        self._line = ""
        self._watched: str | None = None
        self._before = ""
        self._loaded: ClientFiles | None = None

    @property
    def _files(self) -> ClientFiles:
        """The files that the command line names; commands without files do not load their module."""
        if self._loaded is None:
            from ticdc_producer.cli.remote.client_files import ClientFiles

            self._loaded = ClientFiles(self._arguments)
        return self._loaded

    def run(self) -> int:
        """Run it; with ``--watch`` again after each change of a file, until Ctrl-C."""
        while True:
            code = self._exchange(b"")
            if code is None:  # the service requires files
                code = self._exchange(self._files.content())
            if code is None:
                raise _failure("the service asks for files again")
            if self._watched is None:
                return code
            self._before, self._watched = self._watched or self._before, None
            _write("stderr", "waiting for a file to be saved; Ctrl-C ends\n")
            self._files.wait_for_change()

    def _exchange(self, files: bytes) -> int | None:
        """Send the command line and its files; the exit code, or None if the service requires files."""
        sent = [frame("argument", argument) for argument in self._arguments]
        if sys.stdout.isatty():
            sent.append(frame("colours"))
        if self._before:
            sent.append(frame("before", self._before))
        code = None
        for name, content in self._service.post(b"".join([*sent, files])):
            if name == "exit":
                code = int(content)
            else:
                self._take(name, content)
        self._clear()
        if code is not None and self._loaded is not None:
            self._files.finish()
        return code

    def _take(self, name: str, content: bytes) -> None:
        if name == "step":
            self._step(text_of(content))
        elif name in ("out", "err"):
            self._clear()
            _write(f"std{name}", text_of(content))
        elif name == "watch":
            self._watched = text_of(content)
        elif name == "read":
            self._files.request(text_of(content))
        elif name in ("folder", "report"):
            path, option = parts_of(content, 2)
            self._files.check(name, text_of(path), replace=option == b"replace")
        elif name in ("file", "entry"):
            path, entry, data = parts_of(content, 3)
            self._files.write(text_of(path), text_of(entry), data)

    def _step(self, line: str) -> None:
        """Print a step of the work: as one updated line on a terminal, a line each elsewhere."""
        self._clear()
        if sys.stderr.isatty():
            _write("stderr", line[: os.get_terminal_size(2).columns - 1])
            self._line = line
        else:
            _write("stderr", f"{line}\n")

    def _clear(self) -> None:
        if self._line:
            _write("stderr", "\r\x1b[2K")
            self._line = ""


def _write(name: str, text: str) -> None:
    """Write a text to a standard stream.

    The first text that a stream cannot take, because its reader has gone or its encoding lacks a character,
    loads the streams of the commands without a service.

    :param name: ``stdout`` or ``stderr``.
    :raises EnvironmentFailure: if the stream cannot be written, for example because a disk is full.
    """
    try:
        stream = getattr(sys, name)
        stream.write(text)
        stream.flush()
    except (OSError, UnicodeEncodeError):
        from ticdc_producer.cli.terminal.standard_output import guard_standard_streams

        guard_standard_streams()
        stream = getattr(sys, name)
        stream.write(text)
        stream.flush()


class _Service:
    """A service.

    :param url: its URL; its token is in the environment variable TICDC_PRODUCER_TOKEN.
    :raises ArgumentError: for a URL of another form.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        scheme, separator, rest = url.partition("://")
        self._name, _, path = rest.partition("/")
        self._tls, self._path = scheme == "https", f"/{path}".rstrip("/") + PATH
        self._host, self._port = self._address()
        printable = url.isascii() and url.isprintable() and not set(" @?#") & set(url)
        if not separator or scheme not in ("http", "https") or not self._host or not printable:
            from ticdc_producer.errors import ArgumentError

            what = f"{url!r} is not the URL of a service"
            raise ArgumentError(what, argument="server", hint="http://127.0.0.1:8642")

    def _address(self) -> tuple[str, int]:
        host, colon, port = self._name.rpartition(":")
        if colon and port.isdecimal():
            return host.strip("[]"), int(port)
        return self._name.strip("[]"), 443 if self._tls else 80

    def post(self, body: bytes) -> Iterator[tuple[str, bytes]]:
        """Send frames; the frames of the answer.

        :raises ArgumentError: for more than a service takes.
        :raises EnvironmentFailure: if the service does not answer, or not to the end.
        :raises ProducerError: as the service refuses the request.
        """
        if len(body) > MOST_BYTES:
            raise _too_large(len(body))
        connection = None
        try:
            connection = self._connected()
            connection.sendall(self._head(len(body)) + body)
            chunks = iter(lambda: connection.recv(1 << 16), b"")
            status, content_type, rest = _read_head(chunks)
            if content_type != CONTENT_TYPE:
                raise _refusal(status, rest + b"".join(chunks))
            yield from read_frames(_joined(rest, chunks))
        except (OSError, ValueError) as error:
            raise _failure(f"no service answers at {self._url}: {error}") from None
        finally:
            if connection is not None:
                connection.close()

    def _connected(self) -> Any:
        if self._tls:
            import socket
            import ssl

            plain = socket.create_connection((self._host, self._port), _TIMEOUT_SECONDS)
            return ssl.create_default_context().wrap_socket(plain, server_hostname=self._host)
        import _socket

        refused: OSError | None = None
        name = self._host.encode()  # a str would load the module of international names, and `re`
        for family, kind, protocol, _, address in _socket.getaddrinfo(
            name, self._port, 0, _socket.SOCK_STREAM
        ):
            connection = _socket.socket(family, kind, protocol)
            try:
                connection.connect(address)
            except OSError as error:
                connection.close()
                refused = error
            else:
                connection.settimeout(_TIMEOUT_SECONDS)
                return connection
        raise refused or OSError("the name has no address")

    def _head(self, size: int) -> bytes:
        token = os.environ.get(TOKEN_VARIABLE, "")
        lines = [
            f"POST {self._path} HTTP/1.0",  # 1.0: the answer ends with the connection and has no chunks
            f"Host: {self._name}",
            f"Content-Type: {CONTENT_TYPE}",
            f"Content-Length: {size}",
        ]
        if token and token.isascii() and token.isprintable():
            lines.append(f"Authorization: Bearer {token}")
        return "\r\n".join([*lines, "", ""]).encode()


def _read_head(chunks: Iterator[bytes]) -> tuple[int, str, bytes]:
    """Return the status and the content type of an answer, and the beginning of its body."""
    buffer = b""
    for chunk in chunks:
        buffer += chunk
        head, end, rest = buffer.partition(b"\r\n\r\n")
        if end:
            status, *lines = head.decode("latin-1").split("\r\n")
            headers = dict(line.lower().split(":", 1) for line in lines)
            return int(status.split(" ")[1]), headers.get("content-type", "").strip(), rest
    raise ValueError("the answer is incomplete")


def _joined(first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from chunks


def _refusal(status: int, body: bytes) -> Exception:
    import json

    from ticdc_producer.errors import ProducerError

    try:
        content = json.loads(body)["error"]
        error = ProducerError(content["what"], where=content["where"], hint=content["hint"])
    except (ValueError, KeyError, TypeError):
        return _failure(f"the service answers with status {status}")
    return error if status < 500 else _failure(error.what, error.hint)


def _too_large(size: int) -> Exception:
    from ticdc_producer.errors import ArgumentError

    what = f"the files of the command have {size / (1 << 20):.1f} MiB, a service takes {MOST_BYTES >> 20} MiB"
    return ArgumentError(what, argument="server", hint="run the command without --server")


def _failure(what: str, hint: str = "`ticdc-producer serve` starts one") -> Exception:
    from ticdc_producer.errors import EnvironmentFailure

    return EnvironmentFailure(what, hint=hint)
