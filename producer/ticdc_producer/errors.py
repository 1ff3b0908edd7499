"""Every error a user can meet, under one root.

An error says what is wrong, where, and what to do about it; each of the three is a field, and
``str(error)`` puts them together. ``exit_code`` is the exit status of the command that met it.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

USAGE = 2
ENVIRONMENT = 3
MOST_LISTED = 24
"""So many allowed words fit a hint; more of them hide the sentence before it."""


class ProducerError(Exception):
    """Root of all errors of this package.

    :param what: one sentence, what is wrong.
    :param where: the place: ``file:line``, ``topic/partition@offset``…; empty where there is none.
    :param hint: what to do about it; empty where the sentence says it already.
    """

    exit_code = USAGE

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f" ({self.hint})" if self.hint else ""
        return f"{place}{self.what}{advice}"


class ScenarioError(ProducerError):
    """A scenario that cannot be run: its form, its SQL or a value in it.

    :param file: the scenario file as the user named it.
    :param line: line in that file, from 1; 0 where the whole file is meant.
    :param column: the table column concerned, if any.
    :param value: the offending value as text, if any.
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
    ) -> None:
        place = f"{file}:{line}" if file and line else file or (f"line {line}" if line else "")
        super().__init__(what, where=place, hint=hint)
        self.file = file
        self.line = line
        self.column = column
        self.value = value

    def at(self, file: str, line: int) -> ScenarioError:
        """The same error, placed: for the caller that knows where the statement stands."""
        return type(self)(
            self.what,
            file=self.file or file,
            line=self.line or line,
            column=self.column,
            value=self.value,
            hint=self.hint,
        )


class UnsupportedSQL(ScenarioError):
    """SQL that parses and that this tool does not run (yet); refused by name, never skipped."""


class ScenarioProblems(ProducerError):
    """Everything that is wrong with one scenario file, reported at once.

    :param problems: one error per problem, in file order.
    """

    def __init__(self, problems: Iterable[ScenarioError]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class ChangefeedError(ProducerError):
    """A sink URI, changefeed file or option that TiCDC or this tool would not accept.

    :param parameter: the key concerned, as the user would spell it.
    """

    def __init__(self, what: str, *, parameter: str = "", where: str = "", hint: str = "") -> None:
        super().__init__(what, where=where, hint=hint)
        self.parameter = parameter

    def below(self, key: str) -> ChangefeedError:
        """The same error, with the key of the changefeed file that it stands below."""
        where = f"{key}: {self.where}" if self.where else key
        return ChangefeedError(self.what, parameter=f"{key}.{self.parameter}", where=where, hint=self.hint)

    def at(self, place: str) -> ChangefeedError:
        """The same error, with the file that its key stands in."""
        where = f"{place}: {self.where}" if self.where else place
        return ChangefeedError(self.what, parameter=self.parameter, where=where, hint=self.hint)


class PluginError(ProducerError):
    """A codec of another package that cannot be used, or that fails.

    :param protocol: its name.
    :param package: who made it.
    """

    def __init__(self, what: str, *, protocol: str, package: str) -> None:
        hint = "it is no part of ticdc-producer; ask its makers, or uninstall it"
        super().__init__(what, where=f"codec {protocol} of {package}", hint=hint)
        self.protocol = protocol
        self.package = package


class FaultError(ProducerError):
    """A trap that does not exist, or that cannot be set here.

    :param trap: its id as the user wrote it.
    """

    def __init__(self, what: str, *, trap: str = "", where: str = "", hint: str = "") -> None:
        super().__init__(what, where=where, hint=hint)
        self.trap = trap


class EncodeError(ProducerError):
    """An event that TiCDC's encoder refuses; its changefeed would stop here.

    :param code: TiCDC's own error name, such as ``CDC:ErrMessageTooLarge``.
    :param table: ``schema.table``.
    :param commit_ts: commit-ts of the event, 0 if unknown.
    """

    def __init__(self, what: str, *, code: str, table: str = "", commit_ts: int = 0, hint: str = "") -> None:
        super().__init__(f"{code}: {what}", hint=hint)
        self.code = code
        self.table = table
        self.commit_ts = commit_ts


class DecodeError(ProducerError):
    """Bytes that are not a message of the protocol.

    :param code: short stable name of the rule that is broken, such as ``OPEN-KEY-SHORT``.
    :param part: ``key`` or ``value``, or ``claim`` for the object that holds a large row.
    :param byte: offset in that part at which decoding failed.
    :param expected: what had to stand there.
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
        place = f"{topic}/{partition}@{offset}" if topic else ""
        super().__init__(f"{code} at {part} byte {byte}: expected {expected}", where=place)
        self.code = code
        self.expected = expected
        self.part = part
        self.byte = byte
        self.topic = topic
        self.partition = partition
        self.offset = offset

    def at(self, topic: str, partition: int, offset: int) -> DecodeError:
        """The same error, placed in its topic."""
        return DecodeError(
            self.code,
            self.expected,
            part=self.part,
            byte=self.byte,
            topic=topic,
            partition=partition,
            offset=offset,
        )

    def __reduce__(self) -> tuple[object, ...]:  # errors cross process borders inside Spark
        return _rebuild_decode_error, (
            self.code, self.expected, self.part, self.byte, self.topic, self.partition, self.offset,
        )  # fmt: skip


def _rebuild_decode_error(
    code: str, expected: str, part: str, byte: int, topic: str, partition: int, offset: int
) -> DecodeError:
    return DecodeError(code, expected, part=part, byte=byte, topic=topic, partition=partition, offset=offset)


class RecognitionError(ProducerError):
    """Messages whose protocol nobody named, and whose bytes do not tell it, or tell two.

    :param offset: of the message concerned.
    """

    def __init__(self, what: str, *, topic: str, partition: int, offset: int, hint: str = "") -> None:
        super().__init__(what, where=f"{topic}/{partition}@{offset}", hint=hint)
        self.topic = topic
        self.partition = partition
        self.offset = offset


class FolderError(ProducerError):
    """A golden folder that cannot be read or must not be written.

    :param path: the file or folder concerned.
    """

    def __init__(self, what: str, *, path: str, hint: str = "") -> None:
        super().__init__(what, where=path, hint=hint)
        self.path = path


class StateError(ProducerError):
    """A consumer's tables that cannot be found or named so.

    :param source: the URL (without its password), file or option concerned.
    """

    def __init__(self, what: str, *, source: str, hint: str = "") -> None:
        super().__init__(what, where=source, hint=hint)
        self.source = source


class ReportError(ProducerError):
    """A report that cannot be made or written.

    :param path: of the report.
    """

    def __init__(self, what: str, *, path: str, hint: str = "") -> None:
        super().__init__(what, where=path, hint=hint)
        self.path = path


class ArgumentError(ProducerError):
    """An argument of a test's marker, fixture or strategy that makes no sense.

    :param argument: its name.
    """

    def __init__(self, what: str, *, argument: str, where: str = "", hint: str = "") -> None:
        super().__init__(what, where=where, hint=hint)
        self.argument = argument


class TopicError(ProducerError):
    """A topic that is not in the state this command needs.

    :param topic: its name.
    """

    def __init__(self, what: str, *, topic: str, hint: str = "") -> None:
        super().__init__(what, where=topic, hint=hint)
        self.topic = topic


class ForeignMessageError(TopicError):
    """A partition that holds something else than the run wrote there.

    :param partition: number of the partition.
    :param offset: of the first message that is not the run's.
    """

    def __init__(self, what: str, *, topic: str, partition: int, offset: int, hint: str = "") -> None:
        super().__init__(what, topic=topic, hint=hint)
        self.where = f"{topic}/{partition}@{offset}"
        self.partition = partition
        self.offset = offset


class ConformanceError(ProducerError):
    """Cases or a failure list of a conformance run that do not fit what there is."""


class EnvironmentFailure(ProducerError):
    """Something outside of the input failed: Java, the network, a broker."""

    exit_code = ENVIRONMENT


class JavaError(EnvironmentFailure):
    """No Java that Spark and Kafka can run on."""


class SparkError(EnvironmentFailure):
    """A Spark session in which this job cannot run."""


class NoTesteeError(EnvironmentFailure):
    """A program under test that does not start.

    :param command: as the user gave it.
    """

    def __init__(self, what: str, *, command: str, hint: str = "") -> None:
        super().__init__(what, where=command, hint=hint)
        self.command = command


class StateSourceError(EnvironmentFailure):
    """A consumer's database or files that cannot be reached or read.

    :param source: the URL without its password, or the file.
    """

    def __init__(self, what: str, *, source: str, hint: str = "") -> None:
        super().__init__(what, where=source, hint=hint)
        self.source = source


class StorageError(EnvironmentFailure):
    """A storage of claim-check objects that does not take them.

    :param location: of the object or of the storage.
    """

    def __init__(self, what: str, *, location: str, hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.location = location


class BrokerError(EnvironmentFailure):
    """A Kafka broker that cannot be fetched, started or reached.

    :param address: ``host:port`` where known.
    """

    def __init__(self, what: str, *, address: str = "", hint: str = "") -> None:
        super().__init__(what, where=address, hint=hint)
        self.address = address


class RegistryError(EnvironmentFailure):
    """A registry of Avro's schemas that cannot be reached, or does not take a schema.

    :param address: its URL, without user and password.
    """

    def __init__(self, what: str, *, address: str, hint: str = "") -> None:
        super().__init__(what, where=address, hint=hint)
        self.address = address


class AuthenticationError(BrokerError):
    """Credentials that the brokers do not take."""


class TLSError(BrokerError):
    """A secure connection that does not come about: another authority, another name, no TLS there."""


class AuthorizationError(BrokerError):
    """A user of Kafka who may not do what a command needs."""


class DeliveryError(EnvironmentFailure):
    """Messages that the broker did not take.

    :param topic: topic of the first message that failed.
    :param partition: its partition.
    :param delivered: messages acknowledged before, by ``(topic, partition)``.
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


def nearest(name: str, allowed: Iterable[str], *, listed: str = "") -> str:
    """A hint that names the closest allowed word, or lists a few of them.

    :param listed: what tells all of them, for words that are too many for one line.
    """
    choices = sorted(allowed)
    by_lower = {choice.lower(): choice for choice in choices}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    if close:
        return f"did you mean {by_lower[close[0]]!r}?"
    if len(choices) <= MOST_LISTED:
        return "allowed: " + ", ".join(choices) if choices else ""
    if listed:
        return f"{listed} tells the {len(choices)} that are allowed"
    return f"allowed: {', '.join(choices[:MOST_LISTED])}, and {len(choices) - MOST_LISTED} more"
