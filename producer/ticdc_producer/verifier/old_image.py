"""Compares the old image of an update or delete with the values of the row's previous event."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.verifier.identity import readable
from ticdc_producer.verifier.stream import Stream, Violation, event_ref, old_image, position


def check_old_image(stream: Stream) -> DataFrame:
    """INV-OLD-IMAGE: old images with other values than the row's last new image.

    Fingerprints select the candidates. Only their images are compared, column by column: the columns that
    both images have, JSON by value. It is an error in a stream ``from_beginning``, and otherwise a
    warning, because filters and the start-ts hide events.
    """
    transitions = stream.transitions.where("wrong_old").select("topic", "partition", "position", "previous")
    old = _images(stream, old_image(stream.options), "old").withColumn("json", _json())
    new = _images(stream, sf.col("after"), "new").withColumnsRenamed(
        {"partition": "new_partition", "position": "new_position"}
    )
    found = (
        old.join(sf.broadcast(transitions), ["topic", "partition", "position"])
        .withColumns(
            {"new_partition": sf.expr("previous.partition"), "new_position": sf.expr("previous.position")}
        )
        .join(
            new.select("topic", "new_partition", "new_position", "new"),
            ["topic", "new_partition", "new_position"],
        )
        .withColumn("differing", sf.filter(sf.map_keys("old"), _differs))
    )
    severity = sf.lit("error" if stream.options.from_beginning else "warning")
    events = (event_ref(sf.col("new_position"), sf.col("new_partition")), event_ref())
    detail = sf.array_join(sf.transform(sf.sort_array("differing"), _difference), "; ")
    return found.where("size(differing) > 0").select(*Violation(severity, events, detail).found())


def _images(stream: Stream, image: Column, name: str) -> DataFrame:
    rows = stream.decoded.where("kind = 'row'")
    event = ("topic", "partition", position().alias("position"))
    return (
        rows.select(*event, image.alias(name), "columns")
        if name == "old"
        else rows.select(*event, image.alias(name))
    )


def _json() -> Column:
    """Names of the JSON columns."""
    documents = sf.filter("columns", lambda column: sf.lower(column["type"]) == "json")
    return sf.transform(documents, lambda column: column["name"])


def _differs(name: Column) -> Column:
    old, new = (sf.try_element_at(sf.col(image), name) for image in ("old", "new"))
    same = old.eqNullSafe(new)
    as_json = sf.array_contains("json", name) & (_value(old) == _value(new))
    return sf.map_contains_key(sf.col("new"), name) & ~(same | sf.coalesce(as_json, sf.lit(False)))


def _value(document: Column) -> Column:
    """A document with its members in a fixed order and without blanks."""
    return sf.to_json(sf.try_parse_json(document.cast("string")))


def _difference(name: Column) -> Column:
    old, new = (readable(sf.try_element_at(sf.col(image), name)) for image in ("old", "new"))
    return sf.concat(name, sf.lit(": the old image has "), old, sf.lit(", the previous event left "), new)
