"""Legal traps that settings of the changefeed produce."""

from __future__ import annotations

from types import MappingProxyType

from ticdc_producer.faults.trap import ChangefeedTrap
from ticdc_producer.model.parameter import WITHOUT_AVRO
from ticdc_producer.model.trap_coverage import seen_as

_LARGE_MESSAGES = "sink.kafka-config.large-message-handle.large-message-handle-option"


class IdlePartition(ChangefeedTrap):
    id = "idle-partition"
    summary = "A partition receives DDL and resolved events, but never a row."
    changefeed_settings = MappingProxyType({"sink.dispatchers": [{"matcher": ["*.*"], "partition": "table"}]})
    requires = "fewer tables than partitions, and resolved events"
    consumer_action = "Uses the minimum of the resolved-ts of all partitions, including those without rows."
    occurrence = "a partition without rows"
    effect = "idle partitions"
    coverage = seen_as("partition", "resolved > 0 and rows = 0", needs=("resolved",))


class RawKeyUpdate(ChangefeedTrap):
    id = "raw-key-update"
    summary = "An update that changes a primary or unique key is sent as one event with both images."
    issues = ("pingcap/tiflow#11297", "alibaba/canal#3152", "pingcap/tiflow#11270")
    protocols = WITHOUT_AVRO  # its messages have no old image
    changefeed_settings = MappingProxyType({"sink.kafka-config.output-raw-change-event": True})
    may_report = ("INV-KEY-UPDATE-SPLIT", "INV-KEY-PARTITION")
    requires = "an update of a non-clustered primary key or of a unique key"
    consumer_action = "Also removes the row with the old key if the key differs between the two images."
    occurrence = "an update of a key"
    effect = "key updates"
    coverage = seen_as("event", "kind = 'row' and op = 'update' and size(key_change) > 0")


class HandleKeyOnly(ChangefeedTrap):
    id = "handle-key-only"
    summary = "A row above max-message-bytes is sent with its handle key columns only."
    protocols = ("open-protocol", "canal-json")
    issues = ("pingcap/tiflow#9153", "pingcap/tiflow#11396", "pingcap/tiflow#9490")
    changefeed_settings = MappingProxyType({_LARGE_MESSAGES: "handle-key-only"})
    requires = "a row larger than max-message-bytes whose handle key fits"
    consumer_action = (
        "Reads the row from the database at its commit-ts, and never treats the missing columns as NULL."
    )
    occurrence = "a row above max-message-bytes"
    effect = "large rows"
    coverage = seen_as("row", "handle_key_only <> 0 and not claim_check")


class ClaimCheck(ChangefeedTrap):
    id = "claim-check"
    summary = "A row above max-message-bytes is stored in external storage; the message names the object."
    protocols = ("open-protocol", "canal-json")
    issues = ("pingcap/tiflow#9153", "pingcap/tiflow#11396", "pingcap/tiflow#12232")
    changefeed_settings = MappingProxyType({_LARGE_MESSAGES: "claim-check"})
    requires = "a row larger than max-message-bytes, and claim-check-storage-uri"
    consumer_action = "Fetches the object that the message names, and decodes it instead of the message."
    occurrence = "a row above max-message-bytes"
    effect = "large rows"
    coverage = seen_as("row", "handle_key_only <> 0 and claim_check")
