"""Sections and combinations of the changefeed files that TiCDC's integration tests have, in our own words.

Source: ticdc and tiflow ``tests/integration_tests``, with the sink URIs that create their changefeeds.
"""

from __future__ import annotations

import pytest

from ticdc_producer.config import resolve
from ticdc_producer.config.changefeed_toml import changefeed_toml, parse_changefeed_toml

OPEN = (
    "kafka://h:9092/t?protocol=open-protocol&partition-num=4&kafka-version=2.4.0&max-message-bytes=10485760"
)
CANAL_JSON = "kafka://h:9092/t?protocol=canal-json&enable-tidb-extension=true&partition-num=1"
IN_CANAL_JSON = "file:///tmp/x?protocol=canal-json&enable-tidb-extension=true&flush-interval=5s"
CSV = "file:///tmp/x?flush-interval=5s"
SIMPLE_AVRO = "kafka://h:9092/t?protocol=simple&encoding-format=avro"
AVRO = (
    "kafka://h:9092/t?protocol=avro&enable-tidb-extension=true&avro-enable-watermark=true"
    "&avro-decimal-handling-mode=string&avro-bigint-unsigned-handling-mode=string"
    "&schema-registry=http://r:8081"
)
OTHER_NAMES = """
[filter]
rules = ['shop.*', 'crm.*']
[sink]
[[sink.dispatchers]]
matcher = ['shop.*']
target-schema = 'shop_copy'
target-table = '{table}_copied'
[[sink.dispatchers]]
matcher = ['crm.*']
target-schema = '{schema}_copy'
target-table = '{table}_copied'
"""
CHECKSUMS = "[integrity]\nintegrity-check-level = 'correctness'\ncorruption-handle-level = 'error'"

SECTIONS = {
    "rules": (OPEN, "[filter]\nrules = ['*.*', '!audit.*', 'audit.kept']\nignore-txn-start-ts = [7, 9]"),
    "rules in files": (IN_CANAL_JSON, "[filter]\nrules = ['a.*', 'b.*']\n[mounter]\nworker-num = 8"),
    "case": (OPEN, "case-sensitive = true\n[filter]\nrules = ['Shop.Orders']"),
    "types of events": (
        OPEN,
        """
        [[filter.event-filters]]
        matcher = ["shop.a"]
        ignore-event = ["drop table", "delete"]
        ignore-insert-value-expr = "id = 2 or city = 'tokyo'"
        [[filter.event-filters]]
        matcher = ["shop.b*"]
        ignore-event = ["rename table", "truncate table", "alter table", "create table"]
        """,
    ),
    "dispatchers": (
        CANAL_JSON,
        """
        [sink]
        enable-kafka-sink-v2 = true
        dispatchers = [
          {matcher = ["shop.a"], partition = "index-value", index = "by_a", topic = "{schema}_world"},
          {matcher = ["shop.b"], partition = "columns", columns = ["ID", "CoL1"], topic = "hello_{schema}"},
          {matcher = ["shop.c"], dispatcher = "ts"},
          {matcher = ["shop.*"], topic = "{schema}_{table}"},
        ]
        column-selectors = [
          {matcher = ["shop.x"], columns = ["*", "!b"]},
          {matcher = ["one.*", "two.*"], columns = ["column*", "!column1"]},
        ]
        """,
    ),
    "checksums under Open Protocol": (
        OPEN,
        "[integrity]\nintegrity-check-level = 'correctness'\ncorruption-handle-level = 'error'",
    ),
    "checksums with Simple": ("kafka://h:9092/t?protocol=simple", CHECKSUMS),
    "checksums with Simple in Avro": (SIMPLE_AVRO, CHECKSUMS),
    "checksums with Avro": (
        AVRO,
        "[integrity]\nintegrity-check-level = 'correctness'\ncorruption-handle-level = 'warn'",
    ),
    "checksums and claim-check with Simple in Avro": (
        f"{SIMPLE_AVRO}&max-message-bytes=2048",
        f"""
        {CHECKSUMS}
        [sink.kafka-config.large-message-handle]
        large-message-handle-option = "claim-check"
        large-message-handle-compression = "snappy"
        claim-check-storage-uri = "file:///tmp/claims"
        """,
    ),
    "checksums and handle keys with Simple in Avro": (
        f"{SIMPLE_AVRO}&max-message-bytes=650",
        f"""
        {CHECKSUMS}
        [sink]
        send-bootstrap-interval-in-sec = 0
        send-bootstrap-in-msg-count = 0
        [sink.kafka-config.large-message-handle]
        large-message-handle-option = "handle-key-only"
        large-message-handle-compression = "lz4"
        """,
    ),
    "redo logs": (
        OPEN,
        """
        [consistent]
        level = "eventual"
        storage = "file:///tmp/redo"
        max-log-size = 64
        flush-interval = 2000
        meta-flush-interval = 200
        """,
    ),
    "split tables": (
        OPEN,
        """
        [scheduler]
        enable-table-across-nodes = true
        region-threshold = 2
        region-count-per-span = 10
        write-key-threshold = 2000
        enable-splittable-check = false
        force-split = true
        """,
    ),
    "a query of the state": (OPEN, "[synced-status]\nsynced-check-interval = 120\ncheckpoint-interval = 20"),
    "claim-check": (
        CANAL_JSON,
        """
        [sink.kafka-config.large-message-handle]
        large-message-handle-option = "claim-check"
        large-message-handle-compression = "snappy"
        claim-check-storage-uri = "file:///tmp/claims"
        """,
    ),
    "handle keys of large rows": (
        "kafka://h:9092/t?protocol=simple&max-message-bytes=650&required-acks=1",
        """
        [sink]
        send-bootstrap-interval-in-sec = 0
        send-bootstrap-in-msg-count = 0
        [sink.kafka-config.large-message-handle]
        large-message-handle-option = "handle-key-only"
        large-message-handle-compression = "lz4"
        """,
    ),
    "CSV": (
        CSV,
        """
        [sink]
        protocol = "csv"
        terminator = "\\n"
        date-separator = "day"
        enable-partition-separator = true
        transaction-atomicity = ""
        [sink.csv]
        delimiter = ","
        quote = '"'
        null = '\\N'
        include-commit-ts = true
        output-old-value = true
        output-field-header = true
        [sink.cloud-storage-config]
        output-raw-change-event = true
        file-expiration-days = 1
        file-cleanup-cron-spec = "* * * * * *"
        """,
    ),
    "a file for files, used for topics": (
        CANAL_JSON,
        """
        [sink]
        protocol = "canal-json"
        terminator = "\\n"
        date-separator = "day"
        [sink.csv]
        delimiter = ","
        quote = '"'
        include-commit-ts = true
        [sink.cloud-storage-config]
        output-raw-change-event = false
        """,
    ),
    "a file for topics, used for files": (
        IN_CANAL_JSON,
        """
        [sink]
        dispatchers = [{matcher = ["shop.*"], partition = "ts"}]
        [sink.kafka-config]
        output-raw-change-event = true
        [sink.kafka-config.large-message-handle]
        large-message-handle-option = "handle-key-only"
        """,
    ),
}
OF_CLASSIC = {
    "Canal": ("kafka://h:9092/t", "[sink]\nprotocol = 'canal'\ndispatchers = []\n[mounter]\nworker-num = 16"),
}
OF_NEW = {
    "updates of some columns": (
        OPEN,
        """
        [filter]
        rules = ["shop.*"]
        [[filter.event-filters]]
        matcher = ["shop.user_a", "shop.user_b"]
        ignore-update-only-columns = ["id", "email", "version"]
        [sink.kafka-config]
        output-raw-change-event = true
        """,
    ),
    "other names": (OPEN, OTHER_NAMES),
    "other names, in files": (IN_CANAL_JSON, OTHER_NAMES),
    "other names, with redo logs": (
        CANAL_JSON,
        f"[consistent]\nlevel = 'eventual'\nstorage = 'file:///tmp/redo'\n{OTHER_NAMES}",
    ),
    "checksums and old images with Avro": (f"{AVRO}&avro-include-before-value=true", CHECKSUMS),
    "both directions": (OPEN, "bdr-mode = true\n[filter]\nrules = ['shop.*']"),
    "both directions, in files": (IN_CANAL_JSON, "bdr-mode = true\nenable-active-active = true"),
}
_CASES = [
    *((name, profile, case) for name, case in SECTIONS.items() for profile in ("classic", "new")),
    *((name, "classic", case) for name, case in OF_CLASSIC.items()),
    *((name, "new", case) for name, case in OF_NEW.items()),
]


@pytest.mark.parametrize(
    ("profile", "case"),
    [(profile, case) for _, profile, case in _CASES],
    ids=[f"{name}, {profile}" for name, profile, _ in _CASES],
)
def test_the_file_is_accepted_and_is_written_as_it_was_read(profile: str, case: tuple[str, str]) -> None:
    uri, text = case
    sink_uri = f"{uri}{'&' if '?' in uri else '?'}profile={profile}"
    changefeed = resolve(sink_uri, parse_changefeed_toml(text, "changefeed.toml"))
    written = parse_changefeed_toml(changefeed_toml(changefeed), "written.toml")
    unchanged = {"warnings": (), "sets_partition_num": True}
    again = resolve(sink_uri, written)
    assert again.model_copy(update=unchanged) == changefeed.model_copy(update=unchanged)
