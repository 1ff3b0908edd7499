"""All errors that users see, derived from ``ProducerError``.

An error has fields for what is wrong, where, and what to do about it; ``str(error)`` joins them.
``exit_code`` is the exit status of a command that fails with the error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Self

from ticdc_producer.hints import first_lines
from ticdc_producer.masking import masked

USAGE = 2
ENVIRONMENT = 3


class ProducerError(Exception):
    """Base class of all errors of this package. Their texts contain no secrets of URIs.

    :param what: one sentence, what is wrong.
    :param where: the location, such as ``file:line`` or ``topic/partition@offset``; empty if there is none.
    :param hint: what to do about it; empty if that follows from ``what``.
    :ivar arguments: names of the arguments of the Python functions that the text has in backticks.
    """

    exit_code = USAGE
    arguments: tuple[str, ...] = ()

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        self.what, self.where, self.hint = masked(what), masked(where), masked(hint)
        super().__init__(self.what)

    def __str__(self) -> str:
        location = f"{self.where}: " if self.where else ""
        hint = f" ({self.hint})" if self.hint else ""
        return masked(f"{location}{self._body()}{hint}")

    def _body(self) -> str:
        """Return the text between location and hint."""
        return self.what

    def about(self, *arguments: str) -> Self:
        """Record the arguments that the text names in backticks, and return the error."""
        self.arguments = arguments
        return self

    def spelled(self, spelling: Callable[[str], str]) -> str:
        """Return the text in the words of another interface, such as the command line.

        :param spelling: returns the name of an argument there.
        """
        text = str(self)
        for argument in self.arguments:
            text = text.replace(f"`{argument}`", spelling(argument))
        return text


class ScenarioError(ProducerError):
    """A scenario that cannot be run, because of its structure, its SQL or a value in it.

    :param file: the scenario file as the user named it.
    :param line: line in that file, from 1; 0 for the whole file.
    :param column: name of the table column, if any.
    :param value: the invalid value as text, if any.
    :param excerpt: the words of the scenario that the error is about; empty if ``what`` has them.
    """

    def __init__(
        self,
        what: str,
        *,
        file: str = "",
        line: int = 0,
        column: str = "",
        value: str = "",
        hint: str = "",
        excerpt: str = "",
    ) -> None:
        where = f"{file}:{line}" if file and line else file or (f"line {line}" if line else "")
        super().__init__(_printable(what), where=where, hint=hint)
        self.file = masked(file)
        self.line = line
        self.column = column
        self.value = _printable(value)
        self.excerpt = _printable(excerpt)

    def _body(self) -> str:
        return f"{self.what}, in {self.excerpt!r}" if self.excerpt else self.what

    def at(self, file: str, line: int) -> Self:
        """Return the same error with file and line, for callers that know the location of the statement."""
        return type(self)(
            self.what,
            file=self.file or file,
            line=self.line or line,
            column=self.column,
            value=self.value,
            hint=self.hint,
            excerpt=self.excerpt,
        ).about(*self.arguments)


def _printable(text: str) -> str:
    """Return a text without the surrogates that represent bytes that are not UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


class UnsupportedSQL(ScenarioError):
    """SQL that parses but is not supported; rejected with its name, never skipped."""


class RowConflict(ScenarioError):
    """A row that contradicts other rows: its key exists, or the row that it refers to does not."""


class ScenarioProblems(ProducerError):
    """All errors of one scenario file.

    Its text has the first ones.

    :param problems: one error per problem, in file order.
    """

    def __init__(self, problems: Iterable[ScenarioError]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(first_lines(self.problems)))
        self.about(*{name: None for problem in self.problems for name in problem.arguments})


class ChangefeedError(ProducerError):
    """A sink URI, changefeed file or option that TiCDC or this tool rejects.

    :param parameter: the key, as users write it.
    """

    def __init__(self, what: str, *, parameter: str = "", where: str = "", hint: str = "") -> None:
        super().__init__(what, where=where, hint=hint)
        self.parameter = parameter

    def below(self, key: str) -> ChangefeedError:
        """Return the same error, with the parent key in the changefeed file."""
        where = f"{key}: {self.where}" if self.where else key
        return ChangefeedError(
            self.what, parameter=f"{key}.{self.parameter}", where=where, hint=self.hint
        ).about(*self.arguments)

    def at(self, location: str) -> ChangefeedError:
        """Return the same error, with the file or ``file:line`` of its key."""
        where = f"{location}: {self.where}" if self.where else location
        return ChangefeedError(self.what, parameter=self.parameter, where=where, hint=self.hint).about(
            *self.arguments
        )


class PluginError(ProducerError):
    """A codec of another package that cannot be loaded, or that fails.

    :param protocol: name of its protocol.
    :param package: name of the package.
    """

    def __init__(self, what: str, *, protocol: str, package: str) -> None:
        hint = "it is not part of ticdc-producer; report the problem to its authors, or uninstall it"
        super().__init__(what, where=f"codec {protocol} of {package}", hint=hint)
        self.protocol = protocol
        self.package = package


class MissingPartError(ProducerError):
    """A command that needs a part of the tool that is not installed."""


class FaultError(ProducerError):
    """A trap that does not exist, or that cannot be injected here.

    :param trap: its id, as the user wrote it.
    """

    def __init__(self, what: str, *, trap: str = "", where: str = "", hint: str = "") -> None:
        super().__init__(what, where=where, hint=hint)
        self.trap = trap


class EncodeError(ProducerError):
    """An event that TiCDC's encoder rejects; its changefeed would stop here.

    :param code: TiCDC's error name, such as ``CDC:ErrMessageTooLarge``.
    :param table: ``schema.table``.
    :param commit_ts: commit-ts of the event, a TSO; 0 if unknown.
    """

    def __init__(self, what: str, *, code: str, table: str = "", commit_ts: int = 0, hint: str = "") -> None:
        super().__init__(f"{code}: {what}", hint=hint)
        self.code = code
        self.table = table
        self.commit_ts = commit_ts


class DecodeError(ProducerError):
    """Bytes that are not a message of the protocol.

    :param code: short stable name of the violated rule, such as ``OPEN-KEY-SHORT``.
    :param expected: the requirement of the rule at this position.
    :param part: ``key`` or ``value``, or ``claim`` for the claim-check object of a large row.
    :param byte: byte offset in that part at which decoding failed.
    """

    def __init__(
        self,
        code: str,
        expected: str,
        *,
        part: str,
        byte: int,
        topic: str = "",
        partition: int = -1,
        offset: int = -1,
    ) -> None:
        where = f"{topic}/{partition}@{offset}" if topic else ""
        super().__init__(f"{code} at {part} byte {byte}: expected {expected}", where=where)
        self.code = code
        self.expected = expected
        self.part = part
        self.byte = byte
        self.topic = topic
        self.partition = partition
        self.offset = offset

    def at(self, topic: str, partition: int, offset: int) -> DecodeError:
        """Return the same error with the position of its message."""
        return DecodeError(
            self.code,
            self.expected,
            part=self.part,
            byte=self.byte,
            topic=topic,
            partition=partition,
            offset=offset,
        )

    def __reduce__(self) -> tuple[object, ...]:  # Spark's workers send errors to the driver
        return _rebuild_decode_error, (
            self.code, self.expected, self.part, self.byte, self.topic, self.partition, self.offset,
        )  # fmt: skip


def _rebuild_decode_error(
    code: str, expected: str, part: str, byte: int, topic: str, partition: int, offset: int
) -> DecodeError:
    return DecodeError(code, expected, part=part, byte=byte, topic=topic, partition=partition, offset=offset)


class MessageError(ProducerError):
    """A message that cannot be used.

    :param topic: its topic.
    :param partition: its partition.
    :param offset: its offset.
    """

    def __init__(self, what: str, *, topic: str, partition: int, offset: int, hint: str = "") -> None:
        super().__init__(what, where=f"{topic}/{partition}@{offset}", hint=hint)
        self.topic = topic
        self.partition = partition
        self.offset = offset


class UnreadableValue(MessageError):
    """A message with a value that the type which it is read as cannot hold."""


class RecognitionError(MessageError):
    """The protocol was not given, and cannot be detected unambiguously from this message."""


class RecordingError(ProducerError):
    """A topic whose history cannot be recorded; the text has the place of a message."""


class FolderError(ProducerError):
    """A golden folder that cannot be read or must not be written.

    :param path: the file or folder.
    """

    def __init__(self, what: str, *, path: str, hint: str = "") -> None:
        super().__init__(what, where=path, hint=hint)
        self.path = self.where


class StateError(ProducerError):
    """A consumer's tables that cannot be found, or an invalid option that names them.

    :param source: the URL, file or option.
    """

    def __init__(self, what: str, *, source: str, hint: str = "") -> None:
        super().__init__(what, where=source, hint=hint)
        self.source = self.where


class ReportError(ProducerError):
    """A report that cannot be created or written.

    :param path: path of the report.
    """

    def __init__(self, what: str, *, path: str, hint: str = "") -> None:
        super().__init__(what, where=path, hint=hint)
        self.path = self.where


class RefusedRequest(ProducerError):
    """A request to the service that it does not serve.

    :param status: HTTP status: 4xx, or 503 if the service is not ready.
    """

    def __init__(self, what: str, *, status: int, where: str = "", hint: str = "") -> None:
        super().__init__(what, where=where, hint=hint)
        self.status = status


class FailedTask(ProducerError):
    """A run or a verification of a service that has failed.

    :param error: name of the error there.
    """

    def __init__(self, what: str, *, error: str, where: str = "", hint: str = "") -> None:
        super().__init__(what, where=where, hint=hint)
        self.error = error


class ArgumentError(ProducerError):
    """An invalid argument of a command, or of a marker, fixture or strategy of the pytest plugin.

    :param argument: its name.
    """

    def __init__(self, what: str, *, argument: str, where: str = "", hint: str = "") -> None:
        super().__init__(what, where=where, hint=hint)
        self.argument = argument


class TopicError(ProducerError):
    """A topic that is not in the state that the command requires.

    :param topic: its name.
    """

    def __init__(self, what: str, *, topic: str, hint: str = "") -> None:
        super().__init__(what, where=topic, hint=hint)
        self.topic = topic


class ForeignMessageError(TopicError):
    """A partition that contains messages of another program between the messages of the run.

    :param partition: number of the partition.
    :param offset: offset of the first foreign message.
    """

    def __init__(self, what: str, *, topic: str, partition: int, offset: int, hint: str = "") -> None:
        super().__init__(what, topic=topic, hint=hint)
        self.where = f"{topic}/{partition}@{offset}"
        self.partition = partition
        self.offset = offset


class ConformanceError(ProducerError):
    """A conformance run with an invalid selection of cases or an invalid failure list."""


class EnvironmentFailure(ProducerError):
    """A failure outside of the input, such as one of Java, the network or a broker."""

    exit_code = ENVIRONMENT


class JavaError(EnvironmentFailure):
    """The lack of a Java installation that Spark and Kafka can use."""


class SparkError(EnvironmentFailure):
    """A Spark session with settings in which the job cannot run."""


class TesteeStartError(EnvironmentFailure):
    """A program under test that does not start.

    :param command: its command line.
    """

    def __init__(self, what: str, *, command: str, hint: str = "") -> None:
        super().__init__(what, where=command, hint=hint)
        self.command = command


class StateSourceError(EnvironmentFailure):
    """A consumer's database or files that cannot be reached or read.

    :param source: the URL or file.
    """

    def __init__(self, what: str, *, source: str, hint: str = "") -> None:
        super().__init__(what, where=source, hint=hint)
        self.source = self.where


class StorageError(EnvironmentFailure):
    """A storage sink or claim-check storage that cannot be reached or written.

    :param location: URI or path of the object or the storage.
    """

    def __init__(self, what: str, *, location: str, hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.location = masked(location)


class BrokerError(EnvironmentFailure):
    """A Kafka broker that cannot be downloaded, started or reached.

    :param address: ``host:port``, if known.
    """

    def __init__(self, what: str, *, address: str = "", hint: str = "") -> None:
        super().__init__(what, where=address, hint=hint)
        self.address = self.where


class RegistryError(EnvironmentFailure):
    """A schema registry that cannot be reached or rejects a schema.

    :param address: its URL.
    """

    def __init__(self, what: str, *, address: str, hint: str = "") -> None:
        super().__init__(what, where=address, hint=hint)
        self.address = self.where


class AuthenticationError(BrokerError):
    """The brokers rejected the credentials."""


class TLSError(BrokerError):
    """A failure of TLS: untrusted CA, hostname mismatch, or plaintext port."""


class AuthorizationError(BrokerError):
    """A Kafka user without a permission that the command requires."""


class DeliveryError(EnvironmentFailure):
    """Messages that the broker did not acknowledge.

    :param topic: topic of the first message that failed.
    :param partition: its partition.
    :param delivered: number of acknowledged messages by ``(topic, partition)``.
    """

    def __init__(
        self,
        what: str,
        *,
        topic: str,
        partition: int,
        delivered: dict[tuple[str, int], int] | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(what, where=f"{topic}/{partition}", hint=hint)
        self.topic = topic
        self.partition = partition
        self.delivered = delivered or {}
