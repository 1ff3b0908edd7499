"""Writes the messages of Pulsar topics.

A topic is one stream for TiCDC: its client divides the rows among the partitions by the message key, and a
DDL or a watermark is sent once. Source: ticdc ``downstreamadapter/sink/pulsar``; tiflow
``cdc/sink/dmlsink/mq/dmlproducer/pulsar_dml_producer.go``, ``cdc/sink/ddlsink/mq/ddlproducer``.

The messages of a topic are written by one part. A part that is tried again writes those that are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from ticdc_producer.engine.dataset import Batches, Part
from ticdc_producer.errors import DeliveryError
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event import ClaimObject, Kind
from ticdc_producer.protocols.arrow_text import contents, lengths
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.targets.claims import ClaimWriter
from ticdc_producer.targets.encode_partition import split_by_partition
from ticdc_producer.targets.pulsar.client import PulsarCluster, check_client, reason
from ticdc_producer.targets.pulsar.resume import Ends, PartitionMessages
from ticdc_producer.targets.record_batches import stored_messages

if TYPE_CHECKING:
    import pulsar

_THREADS = 8


@dataclass(frozen=True, kw_only=True)
class PulsarDelivery:
    """Settings for writing messages to Pulsar.

    :param cluster: the Pulsar, sent to the tasks with its secrets.
    :param ends: where the topics ended before this run.
    :param name: name of the producers of this run. Pulsar accepts one of a name at a time for a topic, so two
        attempts of a part do not write at once.
    :param claims: URI of the storage for claim-check objects, empty if there is none.
    """

    cluster: PulsarCluster
    ends: Mapping[str, Ends]
    name: str
    claims: str = ""

    def write(self, part: Part, batches: Batches) -> None:
        """Write the messages that the topics of a part lack, and wait until they are acknowledged.

        :param batches: stored messages of whole topics in order, with ``stored_messages.SENT_COLUMNS``.
        :raises MissingPartError: if the client is not installed on this machine.
        :raises BrokerError: if no broker answers.
        :raises DeliveryError: for messages or claim-check objects that were rejected.
        :raises ForeignMessageError: for a topic with a message that the run did not write.
        """
        check_client()
        claims = ClaimWriter(self.claims) if self.claims else None
        with self.cluster.client() as client:
            for (topic, _), messages in split_by_partition(batches):
                writer = TopicWriter(self.cluster, client, topic, self.ends[topic], claims, part.interrupted)
                writer.write(stored_messages(messages), self.name)


class _Record(NamedTuple):
    """A message, and what is stored before it."""

    key: str | None
    value: bytes
    is_row: bool
    partition: int
    claims: tuple[ClaimObject, ...]


class TopicWriter:
    """A writer of the messages of one topic.

    It has a producer for each partition. The producer of a topic calls a router for each message, which takes
    longer than sending it.

    :param ends: where the partitions ended before this run.
    :param claims: writes claim-check objects; None: there are none.
    :param interrupted: whether ``write`` should raise an error as soon as it can.
    """

    _producers: list[pulsar.Producer]
    """Known while ``write`` is called."""
    _partitions: list[PartitionMessages]
    """Known while ``write`` is called."""
    _threads: ThreadPoolExecutor
    """Wait for producers at the same time, while ``write`` is called."""

    def __init__(
        self,
        cluster: PulsarCluster,
        client: pulsar.Client,
        topic: str,
        ends: Ends,
        claims: ClaimWriter | None,
        interrupted: Callable[[], bool],
    ) -> None:
        self._cluster, self._client, self._topic = cluster, client, topic
        self._ends, self._claims, self._interrupted = ends, claims, interrupted
        self._keys = KeyRouter(len(ends))
        self._failures: list[tuple[int, str]] = []
        self._unsettled: set[int] = set()
        self._sends = False

    def write(self, messages: Iterable[MessageBatch], producer_name: str) -> None:
        """Write the messages that the topic lacks in order, and wait until they are acknowledged.

        A DDL or a watermark waits for the rows before it, as in TiCDC, since they may be in other partitions.

        :raises BrokerError: if no broker answers.
        :raises DeliveryError: if the broker rejects a message.
        :raises ForeignMessageError: if the topic has messages that the run did not write.
        """
        with ExitStack() as stack:
            producers = (self._cluster.producer(self._client, name, producer_name) for name in self._ends)
            self._threads = stack.enter_context(ThreadPoolExecutor(_THREADS))
            # The producers of an earlier attempt have ended before the partitions are read.
            self._producers = [stack.enter_context(producer) for producer in producers]
            self._partitions = [
                PartitionMessages(
                    self._cluster, self._client, (self._topic, number), name, end, self._failures
                )
                for number, (name, end) in enumerate(self._ends.items())
            ]
            for part in (part for batch in messages for part in batch.parts()):
                for record in self._records(part):
                    if not self._is_present(record):
                        self._send(record)
                self._check()
            self._settle()
            for partition in self._partitions:
                partition.check_end()

    def _records(self, part: MessageBatch) -> Iterator[_Record]:
        types = [Kind.ROW.label] * len(part) if part.types is None else part.types.to_pylist()
        columns = part.keys(), part.value.to_pylist(), types, self._keys.route(part.key)
        for index, (key, value, kind, partition) in enumerate(zip(*columns, strict=True)):
            text, claims = None if key is None else key.decode(), part.claims.get(index, ())
            yield _Record(text, value, kind == Kind.ROW.label, partition, claims)

    def _is_present(self, record: _Record) -> bool:
        """Return whether an earlier attempt has written a message.

        :raises ForeignMessageError: if the topic has a DDL or a watermark, but not all rows before it.
        """
        partition = self._partitions[record.partition]
        is_present = partition.skip(record.key, record.value)
        if is_present and self._sends and not record.is_row:
            raise partition.foreign("the existing message is one that the run writes later")
        return is_present

    def _send(self, record: _Record) -> None:
        self._sends = True
        if self._claims is not None and record.claims:
            self._claims.write(record.claims)
        if not record.is_row:
            self._settle()
        self._unsettled.add(record.partition)
        delivered = self._partitions[record.partition].on_delivery
        self._producers[record.partition].send_async(record.value, delivered, partition_key=record.key)
        if not record.is_row:
            self._settle()

    def _settle(self) -> None:
        """Wait until all messages are acknowledged."""
        list(self._threads.map(self._flush, self._unsettled))
        self._unsettled.clear()
        self._check()

    def _flush(self, number: int) -> None:
        import pulsar

        try:
            self._producers[number].flush()
        except pulsar.PulsarException as error:
            self._failures.append((number, reason(error)))

    def _check(self) -> None:
        if self._interrupted():
            raise DeliveryError("the run was interrupted", topic=self._topic, partition=0)
        if self._failures:
            number, failure = self._failures[0]
            hint = "delete the topic and run again: a run that failed may have written some messages"
            what = f"Pulsar rejected a message: {failure}"
            raise DeliveryError(what, topic=self._topic, partition=number, hint=hint)


_BASE = np.uint32(31)


class KeyRouter:
    """A router of messages: to the partition of the key, or to each in turn if there is no key.

    So does TiCDC's client. The client of Python has another hash. Source: pulsar-client-go
    ``pulsar/default_router.go``, ``pulsar/internal/hash.go``.

    :param partitions: number of partitions of the topic.
    """

    def __init__(self, partitions: int) -> None:
        self._partitions, self._turn = partitions, 0

    def route(self, keys: pa.Array) -> list[int]:
        """Return the partitions of the next messages.

        >>> router = KeyRouter(3)
        >>> router.route(pa.array([None, b"a", None])), router.route(pa.array([b"a", None, None, None]))
        ([0, 1, 1], [1, 2, 0, 1])
        """
        texts = keys.fill_null(b"")
        without_key = lengths(texts) == 0
        turns = self._turn + np.cumsum(without_key) - 1
        self._turn += int(without_key.sum())
        numbers: list[int] = (np.where(without_key, turns, key_hashes(texts)) % self._partitions).tolist()
        return numbers


def key_hashes(keys: pa.Array) -> Numbers:
    """Return the hashes of keys: Java's ``String.hashCode`` over the bytes of UTF-8, unsigned.

    >>> key_hashes(pa.array([b"shop.orders", b"", b"ab"])).tolist()
    [570428637, 0, 3105]

    :param keys: binary, without nulls.
    """
    sizes = lengths(keys)
    ends = np.cumsum(sizes)
    codes = np.frombuffer(contents(keys), np.uint8).astype(np.uint32)
    powers = np.cumprod(np.full(int(sizes.max(initial=0)), _BASE), dtype=np.uint32)
    following = np.repeat(ends, sizes) - 1 - np.arange(len(codes))
    # A sum of 32 bits wraps as the hash does; so does the difference of two.
    sums = np.cumsum(codes * np.append(np.uint32(1), powers)[following], dtype=np.uint32)
    sums = np.append(np.uint32(0), sums)
    hashes: Numbers = (sums[ends] - sums[ends - sizes]).astype(np.int64)
    return hashes
