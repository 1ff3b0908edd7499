"""Passwords are in no plan, event log, checkpoint or page of the user interface."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.datasource import CaseInsensitiveDict

import ticdc_producer
from pyspark_ticdc import DefaultSource
from tests.kafka_topic import number_of_messages
from ticdc_producer.errors import ArgumentError
from ticdc_producer.kafka.embedded import EmbeddedKafka

PASSWORD = "correct-horse"


WITH_PASSWORD = [
    {"sink-uri": f"kafka://user:{PASSWORD}@localhost:1/t"},
    {"sink-uri": f"kafka://localhost:1/t?sasl-mechanism=plain&sasl-user=u&sasl-password={PASSWORD}"},
    {"sink-uri": f"kafka://localhost:1/t?SASL-Password={PASSWORD}"},
    {"sink-uri": f"kafka://localhost:1/t?sasl-oauth-client-secret={PASSWORD}"},
    {"SINK-URI": f"s3://bucket/prefix?secret-access-key={PASSWORD}"},
    {"sink-uri": f"azblob://bucket/prefix?Account-Key={PASSWORD}"},
    {"sink-uri": f"s3://bucket/prefix?access-key={PASSWORD}"},
    {"sink-uri": f"kafka://localhost:1/t?protocol=avro&schema-registry=http://u:{PASSWORD}@localhost:1"},
    {"schema-registry": f"http://u:{PASSWORD}@localhost:1", "subscribe": "t"},
]


@pytest.mark.parametrize("options", WITH_PASSWORD)
def test_a_password_where_spark_would_show_it_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(ArgumentError, match="Spark would write it") as refusal:
        DefaultSource(CaseInsensitiveDict(options)).schema()
    assert PASSWORD not in str(refusal.value)


@pytest.mark.parametrize("uri", [f"s3://u:{PASSWORD}@bucket/claims", f"s3://bucket?access-key={PASSWORD}"])
def test_the_storage_of_claims_has_no_password(uri: str) -> None:
    options = {"sink-uri": "kafka://localhost:1/t", "Claim-Check-Storage-URI": uri}
    with pytest.raises(ArgumentError, match="option 'claim-check-storage-uri' is not") as refusal:
        DefaultSource(CaseInsensitiveDict(options)).schema()
    assert PASSWORD not in str(refusal.value)


def test_the_error_of_spark_does_not_show_it_either(spark: SparkSession) -> None:
    with pytest.raises(PySparkException, match="Spark would write it") as refusal:
        spark.read.format("ticdc").options(**WITH_PASSWORD[0]).load()
    assert PASSWORD not in str(refusal.value)


def test_a_password_of_an_option_is_in_no_plan(
    spark: SparkSession, kafka: EmbeddedKafka, capsys: pytest.CaptureFixture[str]
) -> None:
    uri = f"kafka://{kafka.bootstrap}/source_secret?protocol=open-protocol&partition-num=2"
    ticdc_producer.run("seed_t1", sink_uri=uri)
    frame = spark.read.format("ticdc").option("sink-uri", uri).option("kafka.sasl.password", PASSWORD).load()
    assert frame.count() == 15
    frame.explain("extended")
    frame.explain("formatted")
    printed = capsys.readouterr().out
    assert "ticdc" in printed
    assert PASSWORD not in printed


def test_a_password_of_the_environment_that_is_not_set(spark: SparkSession) -> None:
    uri = "kafka://localhost:1/t?sasl-mechanism=plain&sasl-user=u&sasl-password=${NO_SUCH_VARIABLE}"
    with pytest.raises(PySparkException, match="environment variable 'NO_SUCH_VARIABLE' is not set"):
        spark.read.format("ticdc").option("sink-uri", uri).load().collect()


PROGRAM = """
import sys
from pathlib import Path
from urllib.request import urlopen

from ticdc_producer.spark.session import spark_session

uri, written, folder, password = sys.argv[1:]
log = {"spark.eventLog.enabled": "true", "spark.eventLog.dir": f"file://{folder}/events"}
log["spark.eventLog.compress"] = "false"
spark = spark_session("local[1]", settings={**log, "spark.ui.enabled": "true", "spark.ui.port": "0"})
options = {"sink-uri": uri, "kafka.sasl.password": password}
assert spark.read.format("ticdc").options(**options).load().count() == 15
stream = spark.readStream.format("ticdc").options(**options).load().writeStream.format("noop")
stream = stream.option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True)
stream.start().awaitTermination()
rows = spark.sql("SELECT 'insert' AS op, 1L AS id")
ddl = "CREATE TABLE test.w (id BIGINT PRIMARY KEY);"
target = {"sink-uri": written, "kafka.sasl.password": password, "ddl": ddl}
rows.write.format("ticdc").mode("append").options(**target).save()

context = spark.sparkContext
api = f"api/v1/applications/{context.applicationId}"
plans = [f"SQL/execution/?id={number}" for number in range(3)]
pages = ["environment/", "SQL/", "jobs/", "stages/", "StreamingQuery/", *plans]
for number, page in enumerate([*pages, f"{api}/environment", f"{api}/sql?details=true"]):
    with urlopen(f"{context.uiWebUrl}/{page}") as answer:
        Path(folder, f"{number}.page").write_bytes(answer.read())
spark.stop()
"""


@pytest.mark.slow
def test_a_password_of_an_option_is_in_no_event_log_no_checkpoint_and_no_page_of_the_user_interface(
    kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    uri = f"kafka://{kafka.bootstrap}/source_logged?protocol=open-protocol&partition-num=2"
    ticdc_producer.run("seed_t1", sink_uri=uri)
    (tmp_path / "events").mkdir()
    written = f"kafka://{kafka.bootstrap}/source_logged_write?protocol=open-protocol&partition-num=1"
    arguments = [uri, written, str(tmp_path), PASSWORD]
    subprocess.run([sys.executable, "-c", PROGRAM, *arguments], check=True, env={**os.environ})
    assert number_of_messages(kafka.bootstrap, "source_logged_write") > 0
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any("events" in path.parts and b"BatchScan ticdc" in path.read_bytes() for path in files)
    assert any("offsets" in path.parts for path in files)
    pages = [path.read_text() for path in files if path.suffix == ".page"]
    assert len(pages) == 10
    assert any("BatchScan ticdc" in page for page in pages)
    assert any("spark.ui.port" in page for page in pages)
    assert [path for path in files if PASSWORD.encode() in path.read_bytes()] == []
