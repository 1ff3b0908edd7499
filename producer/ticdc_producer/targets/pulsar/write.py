"""Writes the messages of Pulsar topics.

A topic is one stream for TiCDC: its client divides the rows among the partitions by the message key, and a
DDL or a watermark is sent once. Source: ticdc ``downstreamadapter/sink/pulsar``; tiflow
``cdc/sink/dmlsink/mq/dmlproducer/pulsar_dml_producer.go``, ``cdc/sink/ddlsink/mq/ddlproducer``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ticdc_producer.engine.dataset import Batches, Part
from ticdc_producer.errors import DeliveryError
from ticdc_producer.model.event import Kind
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.targets.claims import ClaimWriter
from ticdc_producer.targets.encode_partition import split_by_partition
from ticdc_producer.targets.pulsar.client import PulsarCluster, reason
from ticdc_producer.targets.record_batches import stored_messages

if TYPE_CHECKING:
    import pulsar


@dataclass(frozen=True, kw_only=True)
class PulsarDelivery:
    """Settings for writing messages to Pulsar.

    :param claims: URI of the storage for claim-check objects, empty if there is none.
    """

    cluster: PulsarCluster
    claims: str = ""

    def write(self, part: Part, batches: Batches) -> None:
        """Write the messages of a part, and wait until they are acknowledged.

        :param batches: stored messages of whole topics in order, with ``stored_messages.SENT_COLUMNS``.
        :raises BrokerError: if no broker answers.
        :raises DeliveryError: for messages or claim-check objects that were rejected.
        """
        claims = ClaimWriter(self.claims) if self.claims else None
        with self.cluster.client() as client:
            for (topic, _), messages in split_by_partition(batches):
                producer = self.cluster.producer(client, topic)
                writer = TopicWriter(producer, topic, claims, part.interrupted)
                writer.write(stored_messages(messages))
                producer.close()


class TopicWriter:
    """A writer of the messages of one topic.

    :param producer: the producer of the topic.
    :param claims: writes claim-check objects; None: there are none.
    :param interrupted: whether ``write`` should raise an error as soon as it can.
    """

    def __init__(
        self,
        producer: pulsar.Producer,
        topic: str,
        claims: ClaimWriter | None,
        interrupted: Callable[[], bool],
    ) -> None:
        self._producer, self._topic, self._claims = producer, topic, claims
        self._interrupted = interrupted
        self._failure = ""

    def write(self, messages: Iterable[MessageBatch]) -> None:
        """Write messages in order, and wait until they are acknowledged.

        A DDL or a watermark waits for the rows before it, as in TiCDC, since they may be in other partitions.

        :raises DeliveryError: if the broker rejects a message.
        """
        for part in (part for batch in messages for part in batch.parts()):
            if self._claims is not None:
                for claims in part.claims.values():
                    self._claims.write(claims)
            for key, value, is_row in _records(part):
                if not is_row:
                    self._settle()
                self._producer.send_async(value, self._on_delivery, partition_key=key)
                if not is_row:
                    self._settle()
            self._check()
        self._settle()

    def _settle(self) -> None:
        """Wait until all messages are acknowledged."""
        import pulsar

        try:
            self._producer.flush()
        except pulsar.PulsarException as error:
            self._failure = self._failure or reason(error)
        self._check()

    def _on_delivery(self, result: object, _message_id: object) -> None:
        """Note the first failure. The client calls this in a thread of its own."""
        name = getattr(result, "name", str(result))
        if name != "Ok" and not self._failure:
            self._failure = name

    def _check(self) -> None:
        if self._interrupted():
            raise DeliveryError("the run was interrupted", topic=self._topic, partition=0)
        if self._failure:
            hint = "delete the topic and run again: a run that failed may have written some messages"
            what = f"Pulsar rejected a message: {self._failure}"
            raise DeliveryError(what, topic=self._topic, partition=0, hint=hint)


def _records(part: MessageBatch) -> Iterator[tuple[str | None, bytes, bool]]:
    """Yield key and value of each message, and whether it is a row's."""
    types = [Kind.ROW.label] * len(part) if part.types is None else part.types.to_pylist()
    for key, value, kind in zip(part.keys(), part.value.to_pylist(), types, strict=True):
        yield None if key is None else key.decode(), value, kind == Kind.ROW.label
