"""Old images: what an update or delete says the row was, against what the event before it left."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.verifier.identity import readable
from ticdc_producer.verifier.stream import Stream, Violation, old_image, place, position


def old_images_differ(stream: Stream) -> DataFrame:
    """INV-OLD-IMAGE: old images with other values than the row's last new image.

    Fingerprints name the suspects. Only their images are looked at, column by column: those that both
    have, JSON by value. An error in a stream ``from_beginning``; elsewhere filters and the start-ts hide
    events, and it is a warning.
    """
    links = stream.links.where("wrong_old").select("topic", "partition", "position", "previous")
    old = _images(stream, old_image(stream.options), "old").withColumn("json", _json())
    new = _images(stream, sf.col("after"), "new").withColumnsRenamed(
        {"partition": "new_partition", "position": "new_position"}
    )
    found = (
        old.join(sf.broadcast(links), ["topic", "partition", "position"])
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
    events = (place(sf.col("new_position"), sf.col("new_partition")), place())
    detail = sf.array_join(sf.transform(sf.sort_array("differing"), _told), "; ")
    return found.where("size(differing) > 0").select(*Violation(severity, events, detail).found())


def _images(stream: Stream, image: Column, name: str) -> DataFrame:
    rows = stream.decoded.where("kind = 'row'")
    place = ("topic", "partition", position().alias("position"))
    return (
        rows.select(*place, image.alias(name), "columns")
        if name == "old"
        else rows.select(*place, image.alias(name))
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
    """A document with its members in one order and without blanks."""
    return sf.to_json(sf.try_parse_json(document.cast("string")))


def _told(name: Column) -> Column:
    old, new = (readable(sf.try_element_at(sf.col(image), name)) for image in ("old", "new"))
    return sf.concat(name, sf.lit(": the old image has "), old, sf.lit(", the event before left "), new)
