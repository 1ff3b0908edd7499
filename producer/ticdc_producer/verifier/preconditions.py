"""What an invariant cannot check in a given stream: told with a reason, never taken for passed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream_stats import Census


@dataclass(frozen=True, slots=True)
class Gap:
    """What an invariant does not cover in this stream.

    :param rows: rows concerned; 0: the whole invariant, which then is not run.
    """

    reason: str
    rows: int = 0


Gaps: TypeAlias = Callable[[VerifyOptions, Census], Iterator[Gap]]


def always(options: VerifyOptions, census: Census) -> Iterator[Gap]:  # noqa: ARG001 - one signature for all
    """Needs nothing: covers every stream."""
    yield from ()


def needs(*kinds: str) -> Gaps:
    """Needs events of these kinds; without them nothing was proved."""

    def gaps(options: VerifyOptions, census: Census) -> Iterator[Gap]:
        for kind in kinds:
            if kind == "resolved" and not options.resolved:
                yield Gap("the protocol has no resolved events")
            elif not census.count(kind):
                yield Gap(f"the stream has no {kind} events")

    return gaps


def limits(options: VerifyOptions, census: Census) -> Iterator[Gap]:  # noqa: ARG001 - one signature for all
    """Needs one of the limits."""
    if options.max_batch_size is None and options.max_message_bytes is None:
        yield Gap("max-batch-size and max-message-bytes are unknown")


def keyed(options: VerifyOptions, census: Census) -> Iterator[Gap]:
    """Needs rows, and covers those with a handle key."""
    yield from needs("row")(options, census)
    if unkeyed := census.rows("unkeyed"):
        yield Gap("rows of tables without handle key cannot be told apart", unkeyed)


def transactions(gaps: Gaps) -> Gaps:
    """Needs, beside others, the commit-ts that tells one transaction from the next."""

    def both(options: VerifyOptions, census: Census) -> Iterator[Gap]:
        if options.commit_ts != "exact":
            yield Gap("commit-ts is told in milliseconds only; enable-tidb-extension tells it whole")
        yield from gaps(options, census)

    return both


def everywhere(kind: str) -> Gaps:
    """Needs the number of partitions of each topic."""

    def gaps(options: VerifyOptions, census: Census) -> Iterator[Gap]:
        yield from needs(kind)(options, census)
        yield from _uncounted(options, census)

    return gaps


def _uncounted(options: VerifyOptions, census: Census) -> Iterator[Gap]:
    for topic in census.topics:
        if topic not in options.partitions:
            here = sum(tally.count for tally in census.tallies if tally.topic == topic)
            yield Gap(f"the number of partitions of topic {topic} is unknown", here)


def routed(options: VerifyOptions, census: Census) -> Iterator[Gap]:
    """Needs dispatch rules and partition numbers."""
    if options.rules is None:
        yield Gap("the dispatch rules are unknown; give the changefeed's configuration")
        return
    yield from needs("row")(options, census)
    yield from _uncounted(options, census)
    if unruled := census.rows("unruled"):
        yield Gap("no dispatch rule is known for the rows' table", unruled)
    if unhashed := census.rows("unhashed"):
        what = "the message leaves out a column that the rule hashes, or tells it in another form"
        yield Gap(what, unhashed)


def split(options: VerifyOptions, census: Census) -> Iterator[Gap]:
    """Needs old images, and an upstream that splits."""
    if options.raw_key_update:
        yield Gap("output-raw-change-event sends key-changing updates as they are")
    elif not options.old_value:
        yield Gap("updates carry no old image")
    else:
        yield from needs("row")(options, census)
        if not options.unique_columns:
            yield Gap("the protocol tells no unique columns beside its key", census.count("row"))


def anything(options: VerifyOptions, census: Census) -> Iterator[Gap]:  # noqa: ARG001 - one signature
    """Needs events of whatever kind."""
    if not any(census.count(kind) for kind in ("row", "ddl", "resolved")):
        yield Gap("the stream has no events")


def without(missing: Callable[[VerifyOptions], bool], reason: str, gaps: Gaps) -> Gaps:
    """Needs, beside others, something that the options tell."""

    def both(options: VerifyOptions, census: Census) -> Iterator[Gap]:
        if missing(options):
            yield Gap(reason)
        else:
            yield from gaps(options, census)

    return both


def traced(gaps: Gaps) -> Gaps:
    """Needs, beside others, tables whose rows and columns the stream tells from one DDL to the next."""

    def both(options: VerifyOptions, census: Census) -> Iterator[Gap]:
        if options.untraced is None:
            yield Gap("the stream tells no DDL, and so not what changes a table's rows or columns")
            return
        yield from gaps(options, census)
        if rows := census.rows("untraced"):
            yield Gap("rows of the table were left out, or a DDL of it is not told", rows)

    return both


def known_rows(options: VerifyOptions, census: Census) -> Iterator[Gap]:
    """Needs rows that can be followed from event to event."""
    yield from traced(keyed)(options, census)
    if options.commit_ts != "exact" and (rows := census.rows("roaming") + census.rows("unruled")):
        yield Gap("of one millisecond in two partitions nobody knows which came first", rows)


def states(options: VerifyOptions, census: Census) -> Iterator[Gap]:
    """Needs rows that can be followed, and covers inserts that are no updates."""
    yield from known_rows(options, census)
    if not options.names_operation and (rows := census.count("row")):
        yield Gap("an update reads as an insert: inserts of rows that are there are not looked at", rows)


def old_images(options: VerifyOptions, census: Census) -> Iterator[Gap]:
    """Needs old images, and covers those that are whole."""
    if not options.old_value:
        yield Gap("updates carry no old image")
        return
    yield from known_rows(options, census)
    if rows := census.rows("without_old"):
        yield Gap("the event shows its handle key alone", rows)


def stays(options: VerifyOptions, census: Census) -> Iterator[Gap]:
    """Needs rows that a dispatch rule keeps in one partition."""
    yield from keyed(options, census)
    if rows := census.rows("roaming"):
        yield Gap("the dispatch rule moves a row from partition to partition", rows)


def batches(options: VerifyOptions, census: Census) -> Iterator[Gap]:
    """Needs a batcher that keeps dispatch keys apart, and covers rows whose dispatch key is known."""
    if not options.batched_by_key:
        yield Gap("batch-by=partition puts rows of any dispatch key into one message")
        return
    yield from needs("row")(options, census)
    if rows := census.rows("unruled") + census.rows("unhashed"):
        yield Gap("the dispatch key is unknown, so that only the table is looked at", rows)


def placed(options: VerifyOptions, census: Census) -> Iterator[Gap]:
    """Needs topic rules."""
    if options.rules is None or options.default_topic is None:
        yield Gap("the topic rules are unknown; give the changefeed's configuration")
        return
    yield from needs("row")(options, census)
    if unruled := census.rows("unruled"):
        yield Gap("no dispatch rule is known for the rows' table", unruled)


def handles(options: VerifyOptions, census: Census) -> Iterator[Gap]:
    """Needs handle keys that the protocol tells."""
    if not options.handle_keys:
        yield Gap("the protocol tells primary keys only, not which other key is the handle key")
        return
    yield from needs("row")(options, census)
    if options.force_replicate and (rows := census.rows("unkeyed")):
        yield Gap("force-replicate sends tables without handle key", rows)


def covered(options: VerifyOptions, census: Census) -> Iterator[Gap]:
    """Needs rows, and resolved events of topics whose partitions are known."""
    yield from needs("row")(options, census)
    yield from everywhere("resolved")(options, census)
