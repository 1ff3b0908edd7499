"""A stream becomes small tables: every event is counted once, and nothing that stands out is lost."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from producer.report import survey as module
from producer.report.survey import survey
from producer.verifier.finding import EventRef, Finding, Witness
from tests.verify.topic import SCHEMA, Topic, account, ts


def stream(spark: SparkSession, topic: Topic) -> DataFrame:
    rows = [tuple(event.get(field.split("`")[1]) for field in SCHEMA.split(", `")) for event in topic.events]
    return spark.createDataFrame(rows, SCHEMA)
