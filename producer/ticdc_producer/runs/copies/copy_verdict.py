"""The verdict on a copied stream."""

from __future__ import annotations

from dataclasses import replace

from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.runs.copies.stream_copy import StreamCopy
from ticdc_producer.runs.copies.stream_location import StreamLocation
from ticdc_producer.runs.verification import verify_messages
from ticdc_producer.runs.verify import for_topics, verify
from ticdc_producer.targets.kafka.read import OffsetRange
from ticdc_producer.verifier.messages import Messages
from ticdc_producer.verifier.verdict import Verdict


def verify_source(source: StreamLocation) -> Verdict:
    """Verify a topic or storage where it is, whatever its size.

    :param source: with its protocol.
    :raises ProducerError: for a source that cannot be read.
    """
    return verify(
        sink_uri=source.uri,
        config=source.config or None,
        kafka_properties=source.kafka_properties,
        engine="local",
    )


def verify_copy(copy: StreamCopy, source: StreamLocation) -> Verdict:
    """Verify a stream: the copied messages of a topic or file, or the folder or storage itself.

    A golden folder is also compared with its expected events and rows.

    :param source: with its protocol.
    :raises ProducerError: for a source that cannot be read.
    """
    match source.kind:
        case "golden folder":
            return verify(folder=source.path, engine="local")
        case "storage":
            return verify_source(source)
    engine = LocalEngine()
    if source.kind == "file" and copy.partitions:
        source = replace(source, name=max(copy.partitions, key=lambda part: part.messages).topic)
    ranges = [
        OffsetRange(topic=part.topic, partition=part.partition, start=part.first, end=part.last + 1)
        for part in copy.partitions
    ]
    rows = engine.of_batches(copy.messages.select(MESSAGES.names).to_batches(), MESSAGES)
    topics = [*dict.fromkeys(part.topic for part in ranges)]
    changefeed = source.changefeed
    return verify_messages(
        engine,
        for_topics(changefeed, ranges),
        Messages(rows),
        topics=topics,
        claims=changefeed.claim_check_storage_uri,
    ).verdict
