"""The messages of topics of Pulsar, written by tasks that may be lost and run again."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from socket import gethostname

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.pulsar_double import PulsarDouble, WorkerDied
from ticdc_producer.config.pulsar import PulsarSection
from ticdc_producer.engine.dataset import Part
from ticdc_producer.errors import BrokerError, ForeignMessageError, MissingPartError
from ticdc_producer.model.event import ClaimObject, Message
from ticdc_producer.protocols.message_batch import from_messages
from ticdc_producer.targets.message_rows import MessageRows
from ticdc_producer.targets.pulsar.client import PulsarCluster
from ticdc_producer.targets.pulsar.resume import topic_ends
from ticdc_producer.targets.pulsar.write import PulsarDelivery
from ticdc_producer.targets.record_batches import SENT_COLUMNS

TOPIC = "persistent://public/default/orders"
EARLIER = [("", b"earlier")]


@pytest.fixture
def broker() -> PulsarDouble:
    return PulsarDouble()


class Run:
    """A run into a topic that may hold messages, and whose task may be tried again."""

    def __init__(
        self,
        broker: PulsarDouble,
        messages: Sequence[Message],
        *,
        batch: int = 3,
        claims: str = "",
        topic: str = TOPIC,
    ) -> None:
        settings = PulsarSection(batching_max_messages=batch, operation_timeout=1)
        cluster = PulsarCluster("pulsar://127.0.0.1:6650", settings)
        with _installed(broker):
            ends = topic_ends(cluster, [topic])
        self.broker = broker
        self.delivery = PulsarDelivery(cluster=cluster, ends=ends, name="run", claims=claims)
        stored = MessageRows(topic, 0).with_offsets(from_messages(messages))
        self.rows: pa.RecordBatch = stored.select([*SENT_COLUMNS])

    def attempt(self) -> None:
        with _installed(self.broker):
            self.delivery.write(Part(0), iter([self.rows]))

    def lost_after(self, messages: int) -> None:
        """An attempt whose process dies after a number of messages."""
        self.broker.lost = len(self.broker.messages) + messages
        with pytest.raises(WorkerDied):
            self.attempt()
        self.broker.lost = None


@contextmanager
def _installed(broker: PulsarDouble) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pulsar", broker.module())
        yield


def _row(number: int, key: str | None = "s.t") -> Message:
    return Message(None if key is None else key.encode(), b"row %d" % number, "row", commit_ts=1)


def _ddl(number: int) -> Message:
    return Message(None, b"ddl %d" % number, "ddl", commit_ts=1)


ROWS = [_row(number) for number in range(10)]
"""Messages of one partition."""


def _undisturbed(broker: PulsarDouble, messages: Sequence[Message]) -> list[list[bytes]]:
    other = PulsarDouble(partitions=broker.partitions)
    Run(other, messages).attempt()
    return other.values(TOPIC)


@st.composite
def _messages(draw: st.DrawFn) -> list[Message]:
    kinds = draw(st.lists(st.sampled_from(["a", "b", "c", None, "ddl"]), min_size=1, max_size=30))
    return [_ddl(at) if kind == "ddl" else _row(at, kind) for at, kind in enumerate(kinds)]


@given(_messages(), st.integers(0, 4), st.integers(1, 5), st.integers(1, 4), st.data())
def test_tasks_that_are_lost_leave_the_topic_of_an_undisturbed_one(
    messages: list[Message], partitions: int, batch: int, ledger_entries: int, data: st.DataObject
) -> None:
    broker = PulsarDouble(partitions=partitions, ledger_entries=ledger_entries)
    run, missing = Run(broker, messages, batch=batch), len(messages)
    for _ in range(2):
        run.lost_after(data.draw(st.integers(0, missing - 1)))
        missing = len(messages) - sum(map(len, broker.values(TOPIC)))
        if not missing:
            break
    run.attempt()
    assert broker.values(TOPIC) == _undisturbed(broker, messages)
    run.attempt()
    assert broker.values(TOPIC) == _undisturbed(broker, messages)


@given(_messages(), st.data())
def test_a_ddl_waits_for_the_rows_before_it_in_every_attempt(
    messages: list[Message], data: st.DataObject
) -> None:
    broker = PulsarDouble()
    run = Run(broker, messages, batch=4)
    run.lost_after(data.draw(st.integers(0, len(messages) - 1)))
    run.attempt()
    positions = [broker.order.index(message.value or b"") for message in messages]
    for at, message in enumerate(messages):
        if message.type == "ddl":
            assert max(positions[: at + 1]) == positions[at] == min(positions[at:])


def test_the_messages_that_a_topic_has_before_the_run_stay(broker: PulsarDouble) -> None:
    name = broker.names(TOPIC)[_partition()]
    broker.store(name, EARLIER * 2)
    run = Run(broker, ROWS)
    run.lost_after(7)
    run.attempt()
    values = [message.value for message in broker.stored[name]]
    assert values == [b"earlier"] * 2 + [row.value for row in ROWS]


def test_an_attempt_reads_each_partition_at_its_beginning_and_at_its_end(broker: PulsarDouble) -> None:
    for name in broker.names(TOPIC):
        broker.store(name, EARLIER)
    run = Run(broker, ROWS)
    broker.readers.clear()
    run.attempt()
    assert sorted(broker.readers) == sorted(broker.names(TOPIC) * 2)


def test_messages_without_a_key_go_to_the_partitions_in_turn(broker: PulsarDouble) -> None:
    rows = [_row(number, None) for number in range(1000)]
    run = Run(broker, rows, batch=100)
    run.lost_after(700)
    run.attempt()
    assert broker.values(TOPIC) == [[row.value for row in rows[first::3]] for first in range(3)]


def test_ids_with_gaps_are_no_messages(broker: PulsarDouble) -> None:
    def marker(name: str) -> None:
        broker.entries[name] += 1

    broker.ledger_entries, broker.before_entry = 5, marker
    Run(broker, ROWS).attempt()
    assert broker.values(TOPIC) == _undisturbed(broker, ROWS)


def _partition() -> int:
    """The partition of ROWS."""
    other = PulsarDouble()
    Run(other, ROWS).attempt()
    (partition,) = (number for number, values in enumerate(other.values(TOPIC)) if values)
    return partition


@pytest.mark.parametrize(
    ("key", "value"),
    [("s.t", b"foreign"), ("s.t", ROWS[7].value), ("", ROWS[6].value)],
    ids=["foreign", "later", "other-key"],
)
def test_a_message_between_two_attempts_is_foreign(key: str, value: bytes, broker: PulsarDouble) -> None:
    run = Run(broker, ROWS)
    run.lost_after(7)
    partition = _partition()
    broker.store(broker.names(TOPIC)[partition], [(key, value)])
    before = broker.values(TOPIC)
    with pytest.raises(ForeignMessageError, match="not the one that the run writes") as error:
        run.attempt()
    assert (error.value.topic, error.value.partition, error.value.offset) == (TOPIC, partition, 6)
    assert broker.values(TOPIC) == before


@pytest.mark.parametrize("ledger_entries", [1, 1000])
@pytest.mark.parametrize("entry", range(4))
def test_a_message_between_those_of_the_run_is_foreign(
    entry: int, ledger_entries: int, broker: PulsarDouble
) -> None:
    broker.ledger_entries, entries = ledger_entries, count()

    def store_foreign(name: str) -> None:
        if next(entries) == entry:
            broker.store(name, [("", b"foreign")])

    broker.before_entry = store_foreign
    run = Run(broker, ROWS)
    with pytest.raises(ForeignMessageError, match="more messages than the 10 that the run writes"):
        run.attempt()


def test_a_message_after_those_of_the_run_is_foreign(broker: PulsarDouble) -> None:
    run = Run(broker, ROWS)
    run.attempt()
    broker.store(broker.names(TOPIC)[0], [("", b"foreign")])
    with pytest.raises(ForeignMessageError, match="more messages than the"):
        run.attempt()


def test_a_ddl_without_a_row_before_it_is_foreign() -> None:
    broker = PulsarDouble(partitions=2)
    run = Run(broker, [_row(0, "a"), _ddl(1)])
    run.lost_after(0)
    broker.store(broker.names(TOPIC)[0], [("", b"ddl 1")])
    with pytest.raises(ForeignMessageError, match="one that the run writes later"):
        run.attempt()


def test_a_producer_of_an_earlier_attempt_is_waited_for(broker: PulsarDouble) -> None:
    run = Run(broker, ROWS)
    broker.busy = 2
    run.attempt()
    assert broker.values(TOPIC) == _undisturbed(broker, ROWS)


def test_it_is_not_waited_for_without_end(broker: PulsarDouble) -> None:
    run = Run(broker, ROWS)
    broker.connected.add((broker.names(TOPIC)[0], "run"))
    with pytest.raises(BrokerError, match="ProducerBusy"):
        run.attempt()
    assert not broker.messages


def test_claim_check_objects_are_written_before_their_messages(broker: PulsarDouble, tmp_path: Path) -> None:
    def check(_name: str) -> None:
        sent = {(message.value or b"").removeprefix(b"row ").decode() for message in broker.messages}
        assert sent <= {file.name for file in tmp_path.iterdir()}

    broker.before_entry = check
    claims = [ClaimObject(str(number), b"%d" % number) for number in range(10)]
    rows = [replace(row, claims=(claim,)) for row, claim in zip(ROWS, claims, strict=True)]
    run = Run(broker, rows, claims=tmp_path.as_uri())
    run.lost_after(7)
    run.attempt()
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {
        claim.name: claim.content for claim in claims
    }


def test_a_partition_may_be_the_topic() -> None:
    broker, topic = PulsarDouble(partitions=0), f"{TOPIC}-partition-2"
    Run(broker, ROWS, topic=topic).attempt()
    assert broker.values(topic) == [[row.value for row in ROWS]]


def test_topics_that_store_no_messages_are_not_read() -> None:
    broker = PulsarDouble()
    Run(broker, ROWS, topic="non-persistent://public/default/orders").attempt()
    assert len(broker.messages) == 10
    assert not broker.readers


def test_a_worker_without_the_client_is_named(broker: PulsarDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(broker, ROWS)
    monkeypatch.setitem(sys.modules, "pulsar", None)
    with pytest.raises(MissingPartError, match=gethostname()):
        run.delivery.write(Part(0), iter([run.rows]))


def test_a_token_of_a_file_is_sent_to_the_tasks_and_not_printed(broker: PulsarDouble, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("SECRET\n", "utf-8")
    of_driver = PulsarCluster("pulsar://h:1", PulsarSection(token_from_file=str(file)))
    with _installed(broker):
        delivery = PulsarDelivery(cluster=of_driver.for_tasks(), ends={}, name="run")
        file.unlink()
        with pickle.loads(pickle.dumps(delivery)).cluster.client():
            assert broker.clients[-1]["authentication"] == ("Token", "SECRET")
    assert "SECRET" not in repr(delivery)
