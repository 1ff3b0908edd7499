"""Standard output and error: characters that they cannot represent, and a reader that goes away."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Callable

from ticdc_producer.errors import EnvironmentFailure

_ESCAPES = "ticdc-producer.escapes"


def _escaped(error: UnicodeError) -> tuple[str, int]:
    r"""Replace characters by JSON's escapes, so that JSON remains JSON.

    >>> codecs.register_error(_ESCAPES, _escaped)
    >>> "aé日😀".encode("latin-1", _ESCAPES)
    b'a\xe9\\u65e5\\ud83d\\ude00'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    units = (text[at : at + 2].hex() for at in range(0, len(text), 2))
    return "".join(f"\\u{unit}" for unit in units), error.end


class StandardStream(io.TextIOWrapper):
    """A standard stream that every text can be written to.

    When the reader of a pipe has gone, the rest of the output is dropped: the exit code still says what the
    command has found.

    :ivar reader_gone: whether that happened.
    """

    def __init__(self, stream: io.TextIOWrapper) -> None:
        # Typer takes ASCII for a mistake and writes UTF-8; Latin-1 has the same first 128 characters.
        self._ascii = codecs.lookup(stream.encoding).name == "ascii"
        encoding = "latin-1" if self._ascii else stream.encoding
        super().__init__(
            stream.buffer, encoding=encoding, errors=_ESCAPES, line_buffering=stream.line_buffering
        )
        self.reader_gone = False

    def write(self, text: str, /) -> int:
        """Write a text, with escapes for the characters that the encoding lacks.

        :raises EnvironmentFailure: if the stream cannot be written, for example because a disk is full.
        """
        written = text.encode("ascii", _ESCAPES).decode("ascii") if self._ascii else text
        self._call(lambda: super(StandardStream, self).write(written))
        return len(text)

    def flush(self) -> None:
        """Flush the stream.

        :raises EnvironmentFailure: as ``write``.
        """
        self._call(super().flush)

    def _call(self, operation: Callable[[], object]) -> None:
        try:
            operation()
        except BrokenPipeError:
            self.reader_gone = True
            self._drop()
        except OSError as error:
            self._drop()
            what = f"the output cannot be written: {error.strerror or error}"
            raise EnvironmentFailure(what, hint="free space, or write it to another file") from None

    def _drop(self) -> None:
        """Drop everything that is buffered or written from now on, also at the end of the process."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


def guard_standard_streams() -> None:
    """Replace the standard streams of this process by ones that every text can be written to."""
    codecs.register_error(_ESCAPES, _escaped)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if type(stream) is io.TextIOWrapper:  # None if it is closed, another class in a notebook
            setattr(sys, name, StandardStream(stream))


def reader_gone() -> bool:
    """Return whether nobody reads the output any more, as after ``| head``."""
    return isinstance(sys.stdout, StandardStream) and sys.stdout.reader_gone
