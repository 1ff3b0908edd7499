"""Digests of what runs write and of what verifications find, to compare two versions of the code.

``python -m tests.runs.digests OUT.json`` runs all cases and writes their digests. ``digests.json`` holds
those that every version must have; ``test_digests.py`` compares. A case has up to four lines, by its name:

- ``CASE``: the folder or storage that the run wrote; the words of the error if it was refused
- ``CASE/report``: the report of the run without its verdict
- ``CASE/verdict``: the verdict of the run
- ``CASE/verify``: the verdicts of ``verify`` on what was written, without and with the scenario

To see what differs, run both versions with ``--keep`` and compare the folders.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

import ticdc_producer
from ticdc_producer import ProducerError, RunReport, Verdict
from ticdc_producer.config import PARAMETERS

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "visible"
FAULTY = ROOT / "tests" / "runs" / "faulty.yaml"
RECORDED = Path(__file__).with_suffix(".json")
PARTS = ("", "/report", "/verdict", "/verify")
"""What a digest is of, after the name of its case."""

ScenarioMaker: TypeAlias = Callable[[Path], Path]
"""A function that writes the files of a scenario into a folder, and returns the path of the scenario."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A run, and the verifications of what it wrote.

    :param scenario: the name of a shipped scenario, a file, or a function that writes one.
    :param sink_uri: ``{out}`` is the folder of a storage; other runs write a golden folder.
    :param inject: traps.
    :param run: more arguments of ``run``.
    :param verify: more arguments of ``verify``.
    """

    scenario: str | Path | ScenarioMaker
    sink_uri: str | None = None
    overrides: Sequence[str] = ()
    inject: Sequence[str] = ()
    state_at: Sequence[int] = ()
    run: Mapping[str, Any] = field(default_factory=dict)
    verify: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_storage(self) -> bool:
        """Whether the run writes the files of a storage sink."""
        return self.sink_uri is not None and "{out}" in self.sink_uri


Cases: TypeAlias = dict[str, Case]

# Protocols and the parameters of their sink URIs.

PROTOCOLS = {
    name: name
    for name in ("open-protocol", "canal-json", "debezium", "craft", "simple", "avro", "debezium-avro")
}
CLASSIC = {name: name for name in ("maxwell", "canal")}
"""The protocols that only the classic architecture has."""
EXTENDED = {
    "canal-json-tidb": "canal-json&enable-tidb-extension=true",
    "debezium-ddl": "debezium&enable-tidb-extension=true&output-ddl=true",
    "simple-avro": "simple&encoding-format=avro",
    "avro-watermark": "avro&enable-tidb-extension=true&avro-enable-watermark=true",
    "debezium-avro-watermark": "debezium-avro&enable-tidb-extension=true&avro-enable-watermark=true",
}
EVERY = PROTOCOLS | EXTENDED | CLASSIC
REQUIRE_KEYS = ("avro", "avro-watermark", "debezium-avro", "debezium-avro-watermark")
WITH_RESOLVED = (
    "open-protocol", "canal-json-tidb", "debezium-ddl", "craft", "simple", "avro-watermark",
    "debezium-avro-watermark",
)  # fmt: skip
"""Each protocol in a form that has all of its messages."""


def _uri(topic: str, protocol: str, parameters: str = "", partitions: int = 3) -> str:
    query = f"protocol={EVERY[protocol]}&partition-num={partitions}{parameters}"
    return f"kafka:///{topic}?{query}"


# Shipped scenarios and golden SQL.

SHIPPED = tuple(path.stem for path in sorted((ROOT / "scenarios").glob("*.yaml")))
OF_SCENARIO = {"seed_t1": "&ddl-text=original", "large-rows": "&max-message-bytes=65536"}
"""Parameters that the scenario's own sink URI has, too."""
OVER_LIMIT = "changefeed.sink.kafka-config.large-message-handle"
DISPATCHERS = "changefeed.sink.dispatchers"
FOR_ALL = f"{DISPATCHERS}=[{{{{matcher: ['*.*'], {{}}}}}}]"
WITHOUT_KEY = "changefeed.force-replicate=false"
NOW = "session.now=2021-12-20T13:30:49Z"
TAKES_LONG = ("message-limit", "wide")
IN_ALL_FORMS = ("all-traps", "ddl-mix", "migrations")
WITH_PROFILE = ("all-traps", "all-types", "bank", "migrations", "seed_t1")
SCRIPTS = tuple(path.stem for path in sorted(GOLDEN.glob("*.sql")))
SCRIPTS_IN_ALL_FORMS = ("generated_defaults", "keys", "partition", "temporal")


def _of_shipped(scenario: str, protocol: str, parameters: str = "") -> Case:
    """A shipped scenario in another protocol; options of its own that the protocol refuses are changed."""
    overrides = []
    if scenario == "all-traps" and protocol in REQUIRE_KEYS:
        overrides.append(WITHOUT_KEY)
    if scenario in ("all-traps", "all-types") and protocol.startswith("debezium-avro"):
        parameters += "&avro-bigint-unsigned-handling-mode=string"
    if scenario == "large-rows":
        parameters += "&enable-tidb-extension=true" if protocol == "canal-json" else ""
    uri = _uri(scenario, protocol, OF_SCENARIO.get(scenario, "") + parameters)
    return Case(scenario=scenario, sink_uri=uri, overrides=overrides)


def _shipped_cases() -> Cases:
    cases = {f"{name}/own": Case(scenario=name) for name in SHIPPED if name not in TAKES_LONG}
    for name in SHIPPED:
        for protocol in EVERY if name in IN_ALL_FORMS else PROTOCOLS | CLASSIC:
            cases[f"{name}/{protocol}"] = _of_shipped(name, protocol)
    return cases | {
        f"new/{name}/{protocol}": _of_shipped(name, protocol, "&profile=new")
        for name in WITH_PROFILE
        for protocol in PROTOCOLS
    }


def _golden_case(name: str, protocol: str, parameters: str = "") -> Case:
    forced = name == "nokey_force" and not protocol.startswith("avro")
    dispatchers = FOR_ALL.format("partition: index-value")
    overrides = ["on-error=skip", NOW, dispatchers, f"changefeed.force-replicate={str(forced).lower()}"]
    uri = _uri("golden", protocol, parameters)
    return Case(scenario=GOLDEN / f"{name}.sql", sink_uri=uri, overrides=overrides)


def _golden_cases() -> Cases:
    few = ("open-protocol", "canal-json-tidb", "debezium-ddl")
    cases = {
        f"golden/{name}/{protocol}": _golden_case(name, protocol) for name in SCRIPTS for protocol in few
    }
    for name in SCRIPTS_IN_ALL_FORMS:
        for protocol in ("craft", "simple-avro", "avro-watermark", *CLASSIC):
            cases[f"golden/{name}/{protocol}"] = _golden_case(name, protocol)
        for protocol in (*few, "simple"):
            cases[f"new/golden/{name}/{protocol}"] = _golden_case(name, protocol, "&profile=new")
    return cases


# Faults.

LEGAL = (
    "replay-suffix:times=2", "replay-partial", "replay-one-table", "resolved-fallback", "resolved-lag",
    "duplicate-event:rate=0.1", "duplicate-message:rate=0.1", "duplicate-ddl:rate=1",
    "ddl-at-resolved-ts:rate=1",
)  # fmt: skip
OF_BATCHES = ("batch-boundaries:rate=0.1", "regrouped-batches:rate=0.5")
ILLEGAL = (
    "changed-duplicate", "corrupt-bytes", "ddl-before-its-rows", "early-resolved", "lost-message", "lost-row",
    "missing-ddl", "missing-resolved", "poison", "reordered-key", "truncated", "uncollapsed",
    "wrong-partition",
)  # fmt: skip
OF_OLD_IMAGES = ("schema-drift", "stale-before-image")
WITHOUT_OLD_IMAGES = ("simple", "avro-watermark", "debezium-avro-watermark")
"""Protocols in which these traps do not exist."""
ALONE = (*LEGAL, *OF_BATCHES, *ILLEGAL, *OF_OLD_IMAGES, "mixed-kinds", "unsplit")
IN_FEW_BATCHES = (FOR_ALL.format("partition: table"), "resolved.every=5s")
"""Rows of one table share messages, so that one of them can have too many."""


def _faulty(protocol: str, *inject: str, **others: Any) -> Case:
    uri = _uri("faulty", protocol)
    return Case(scenario=FAULTY, sink_uri=uri, inject=inject, **others)


def _fault_cases() -> Cases:
    cases = {"faults/none/open-protocol": _faulty("open-protocol")}
    for protocol in WITH_RESOLVED:
        batches = OF_BATCHES if protocol in ("open-protocol", "craft") else ()
        illegal = ILLEGAL if protocol in WITHOUT_OLD_IMAGES else (*ILLEGAL, *OF_OLD_IMAGES)
        absent = (
            ("resolved-fallback",) if protocol.startswith("debezium-avro") else ()
        )  # it is of classic alone
        legal = [trap for trap in LEGAL if trap not in absent]
        cases[f"faults/legal/{protocol}"] = _faulty(protocol, *legal, *batches)
        cases[f"faults/illegal/{protocol}"] = _faulty(protocol, *illegal)
    cases |= {
        f"faults/{setting.partition(':')[0]}/open-protocol": _faulty("open-protocol", setting)
        for setting in ALONE
    }
    both = ("duplicate-event", "replay-suffix", "lost-row:times=2", "wrong-partition", "changed-duplicate")
    strict = {"strict_table_order": True, "from_beginning": True, "resolved_gap_ms": 100, "examples": 7}
    return cases | {
        "faults/oversized/open-protocol": _faulty("open-protocol", "oversized", overrides=IN_FEW_BATCHES),
        "faults/both/canal-json": _faulty(
            "canal-json", "replay-partial", "duplicate-message", "lost-row", "poison"
        ),
        "faults/both/sysbench": Case(scenario="sysbench", inject=both),
        "faults/both/ddl-mix": Case(scenario="ddl-mix", inject=(*both, *OF_BATCHES)),
        "faults/strict/open-protocol": _faulty("open-protocol", *both, verify=strict),
        "faults/raw/open-protocol": _faulty(
            "open-protocol",
            "duplicate-event",
            overrides=["changefeed.sink.kafka-config.output-raw-change-event=true"],
        ),
    }


# Scenarios that are written for the run.

START = 429918007904436226
"""Commit-ts of the first commit."""


def _ts(seconds: int) -> int:
    return START + (seconds * 1000 << 18)


def _written(name: str, text: str, folder: Path) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


TOO_LARGE = partial(
    _written,
    "too-large.sql",
    """\
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(5000));
INSERT INTO t VALUES (1, 'small');
INSERT INTO t VALUES (2, REPEAT('x', 4000));
CREATE TABLE other (id INT PRIMARY KEY, v VARCHAR(5000));
INSERT INTO other VALUES (1, 'small');
BEGIN;
INSERT INTO t VALUES (3, 'small'), (4, REPEAT('x', 3000));
UPDATE other SET v = 'large enough' WHERE id = 1;
COMMIT;
""",
)
ACCOUNTS = """\
version: 1
seed: 7
resolved: {every: 5s}
changefeed:
  sink-uri: "kafka:///accounts?protocol=open-protocol&partition-num=3"
  sink: {dispatchers: [{matcher: ['*.*'], partition: index-value}]}
steps:
  - sql: |
      CREATE DATABASE bank;
      CREATE TABLE bank.accounts (
        id BIGINT PRIMARY KEY, owner VARCHAR(64), balance DECIMAL(12,2), kind ENUM('a','b'),
        opened DATETIME(3)
      );
      CREATE TABLE bank.audit (id INT PRIMARY KEY, what VARCHAR(20));
      INSERT INTO bank.audit VALUES (1, 'begin');
  - generate:
      table: bank.accounts
      transactions: 60
      rows-per-transaction: 3
      rows: 20
      hot-keys: 0.9
      columns:
        balance: {distribution: normal, min: 0, max: 100000, nulls: 0.1}
        OWNER
"""
GENERATED = partial(_written, "generated.yaml", ACCOUNTS.replace("OWNER", "owner: {length: [1, 20]}"))
BEHIND = partial(
    _written,
    "behind.yaml",
    ACCOUNTS.replace("OWNER", "owner: {length: [1, 20]}")
    + """\
  - sql: |
      UPDATE bank.accounts SET balance = NULL WHERE id IN (7, 8);
      DELETE FROM bank.accounts WHERE id = 9 AND kind = 'a';
      INSERT INTO bank.accounts VALUES (9223372036854775807, '', -0.01, 'b', NULL);
      ALTER TABLE bank.accounts ADD COLUMN note TEXT;
      UPDATE bank.accounts SET note = owner WHERE id = 3;
      INSERT INTO bank.audit SELECT id, kind FROM bank.accounts WHERE id IN (4, 5);
""",
)
EXPRESSION = partial(
    _written,
    "expression.yaml",
    ACCOUNTS.replace(
        "OWNER", """owner: {expression: "concat('owner ', CAST(row * 10 + version AS STRING))"}"""
    )
    + "  - sql: INSERT INTO bank.audit VALUES (2, 'end');\n",
)
TABLES = partial(
    _written,
    "tables.yaml",
    """\
version: 1
seed: 2
clock: {every: 100ms}
resolved: {every: 2s}
changefeed:
  sink-uri: "kafka:///tables?protocol=open-protocol&partition-num=3"
  sink: {dispatchers: [{matcher: ['*.*'], partition: index-value}]}
steps:
  - sql: |
      CREATE TABLE orders (id BIGINT PRIMARY KEY, customer INT NOT NULL, note VARCHAR(40));
      CREATE TABLE carts (id BIGINT PRIMARY KEY, order_id BIGINT NOT NULL, n INT NOT NULL UNIQUE);
      CREATE TABLE lively (id BIGINT PRIMARY KEY, n INT NOT NULL, note VARCHAR(40));
  - generate:
      tables:
        - {table: test.orders, share: 3, mix: {insert: 1, update: 2}}
        - {table: test.carts, hot-keys: 0.8, key-changes: 0.2,
           columns: {order_id: {references: test.orders.id, distribution: latest}}}
      rows: 20
      transactions: 100
      rows-per-transaction: 4
      changes-per-row: 2
  - generate:
      table: test.lively
      rows: 10
      transactions: 80
      rows-per-transaction: 3
      ddl:
        {every: 8, add-column: 2, drop-column: 1, add-index: 1, drop-index: 1, rename-table: 1,
         truncate-table: 1}
""",
)

ORDER_TYPES = "n INT, m INT, op STRING, id INT, item BIGINT"
SHOP = f"""\
version: 1
resolved: {{every: 2s}}
changefeed:
  sink-uri: "kafka:///shop?protocol=open-protocol&partition-num=2"
  sink: {{dispatchers: [{{matcher: ['*.*'], partition: index-value}}]}}
steps:
  - sql: |
      CREATE DATABASE shop;
      CREATE TABLE shop.items (id BIGINT PRIMARY KEY, price DECIMAL(8,2));
      CREATE TABLE shop.orders (id INT PRIMARY KEY, item BIGINT);
      CREATE TABLE shop.notes (id INT PRIMARY KEY, body VARCHAR(3000), n INT UNIQUE);
      INSERT INTO shop.notes VALUES (1, 'one', 1), (2, repeat('two', 900), 2);
      CREATE TABLE shop.generated (id BIGINT PRIMARY KEY, n INT, label VARCHAR(20) NOT NULL UNIQUE);
  - data:
      table: shop.items
      format: parquet
      path: items.parquet
      transactions: 4
      order: n
      before: old
  - data:
      table: shop.orders
      format: csv
      path: orders.csv
      schema: {ORDER_TYPES}
      options: {{header: 'true'}}
      transactions: 30
      order: [n, m]
  - sql: |
      BEGIN;
      UPDATE shop.notes SET n = 9 WHERE id = 1;
      UPDATE shop.notes SET n = 1 WHERE id = 2;
      UPDATE shop.notes SET n = 2, body = concat(body, '!') WHERE id = 1;
      DELETE FROM shop.notes WHERE id = 2;
      COMMIT;
      ALTER TABLE shop.notes ADD COLUMN more INT DEFAULT 7;
      UPDATE shop.notes SET more = 8;
      INSERT INTO shop.notes VALUES (3, 'three', 3, NULL);
  - generate: {{table: shop.generated, rows: 20, transactions: 100, rows-per-transaction: 2}}
"""
PRICE = pa.decimal128(8, 2)
OLD_ITEM = pa.struct([("id", pa.int64()), ("price", PRICE)])
ITEM_CHANGES = pa.schema(
    [("n", pa.int32()), ("op", pa.string()), ("id", pa.int64()), ("price", PRICE), ("old", OLD_ITEM)]
)


def _item(n: int, op: str, row: int, price: str, old: tuple[int, str] | None = None) -> dict[str, Any]:
    before = None if old is None else {"id": old[0], "price": Decimal(old[1])}
    return {"n": n, "op": op, "id": row, "price": Decimal(price), "old": before}


def shop(folder: Path) -> Path:
    """Write a scenario whose ``data`` steps read Parquet and CSV."""
    items = [
        _item(0, "insert", 1, "1.50"),
        _item(0, "insert", 2, "2.00"),
        _item(1, "update", 1, "3.25", (1, "1.50")),
        _item(2, "update", 7, "2.00", (2, "2.00")),
        _item(3, "delete", 1, "3.25"),
    ]
    pq.write_table(pa.Table.from_pylist(items, ITEM_CHANGES), folder / "items.parquet")
    orders = [f"{n},{m},i,{3 * n + m},{m}" for n in range(20) for m in range(3)]
    orders += [f"{n},0,u,{n},-1\n{n},1,d,{n + 1}," for n in range(20, 30, 2)]
    _written("orders.csv", "\n".join(["n,m,op,id,item", *orders]) + "\n", folder)
    return _written("shop.yaml", SHOP, folder)


DUMP_ROWS, DUMP_INSERTS = 400, 8
COMMENT = f"-- {'x' * 1020}\n"
"""1 KiB: a file with more than 64 MiB is a large dump, and a table with more than 1 MiB is large in it."""


def dump(folder: Path) -> Path:
    """Write a dump so large that the SQL engine does not run all of it; most of it are comments."""
    path = folder / "dump.sql"
    with path.open("w") as file:
        file.write(f"/*!40014 SET FOREIGN_KEY_CHECKS=0 */;\n{COMMENT * (32 << 10)}")
        file.write(
            "CREATE TABLE `items` (`id` int PRIMARY KEY, `v` varchar(30), `d` decimal(8,2) DEFAULT 1,\n"
            "  `at` datetime DEFAULT CURRENT_TIMESTAMP, `few` int);\nLOCK TABLES `items` WRITE;\n"
        )
        file.writelines(_inserts())
        file.write(f"UNLOCK TABLES;\n{COMMENT * (32 << 10)}CREATE TABLE `few` (`id` int PRIMARY KEY);\n")
        file.write("INSERT INTO `few` VALUES (1),(2);\n")
    return path


def _inserts() -> Iterator[str]:
    rows = DUMP_ROWS // DUMP_INSERTS
    for first in range(0, DUMP_ROWS, rows):
        values = ",".join(f"({n},'it\\'s; {n}',{n / 4:.2f},NULL)" for n in range(first, first + rows))
        yield f"{COMMENT * 160}INSERT INTO `items` (`id`,`v`,`d`,`few`) VALUES {values};\n"


def _generated_cases() -> Cases:
    cases = {}
    for protocol in ("open-protocol", "canal-json-tidb", "debezium-ddl", "simple"):
        for name, maker in {"behind": BEHIND, "expression": EXPRESSION, "tables": TABLES}.items():
            case = Case(scenario=maker, sink_uri=_uri(name, protocol), state_at=[_ts(20), _ts(60)])
            cases[f"generated/{name}/{protocol}"] = case
    faults = ("duplicate-event", "replay-partial", "lost-row", "early-resolved")
    cases["generated/behind/faults"] = Case(scenario=BEHIND, inject=faults, state_at=[_ts(40)])
    cases["generated/expression/faults"] = Case(scenario=EXPRESSION, inject=faults, state_at=[_ts(40)])
    cases["generated/seed/open-protocol"] = Case(scenario=GENERATED, overrides=["seed=8"])
    return cases


def _data_cases() -> Cases:
    """Cases that are never small; few, because each takes as long as 20 others."""
    limit = "&max-message-bytes=2048"
    claims = [f"{OVER_LIMIT}.large-message-handle-option=claim-check", CLAIMS]
    illegal = ("lost-row", "wrong-partition", "early-resolved", "poison", "unsplit", "missing-ddl")
    limited = Case(scenario=shop, sink_uri=_uri("shop", "open-protocol", limit))
    return {
        "data/claim-check/canal-json-tidb": Case(
            scenario=shop,
            sink_uri=_uri("shop", "canal-json-tidb", limit),
            overrides=claims,
            state_at=[_ts(15)],
        ),
        "data/new/avro-watermark": Case(
            scenario=shop, sink_uri=_uri("shop", "avro-watermark", "&profile=new")
        ),
        "data/faults-and-skip/open-protocol": replace(
            limited, overrides=["on-error=skip"], inject=(*LEGAL, *OF_BATCHES, *illegal)
        ),
        "data/stop/open-protocol": limited,
        "data/messages-only/simple": Case(
            scenario=shop,
            sink_uri=_uri("shop", "simple", limit),
            overrides=claims,
            run={"messages_only": True},
        ),
        "data/dry-run/own": Case(scenario=shop, run={"dry_run": True}),
        "data/dump/open-protocol": Case(scenario=dump, sink_uri=_uri("dump", "open-protocol")),
    }


# Large messages, options, dispatchers, filters.

LARGEST = {"open-protocol": 800, "canal-json-tidb": 800, "simple": 2200}
"""Largest messages in bytes; in Simple the DDL must not exceed it."""
CLAIMS = f"{OVER_LIMIT}.claim-check-storage-uri=file:///claims"


def _large_message_cases() -> Cases:
    cases = {}
    for option in ("handle-key-only", "claim-check"):
        overrides = [f"{OVER_LIMIT}.large-message-handle-option={option}", CLAIMS]
        for protocol in ("open-protocol", "canal-json-tidb", "simple"):
            cases[f"large/{option}/{protocol}"] = Case(
                scenario=GOLDEN / "strings.sql",
                sink_uri=_uri("large", protocol, f"&max-message-bytes={LARGEST[protocol]}"),
                overrides=overrides if option == "claim-check" else overrides[:1],
            )
        cases[f"large/{option}/large-rows"] = Case(scenario="large-rows", overrides=overrides)
    raw = [
        f"{OVER_LIMIT}.large-message-handle-option=claim-check",
        CLAIMS,
        f"{OVER_LIMIT}.claim-check-raw-value=true",
    ]
    uri = _uri("large", "canal-json-tidb", "&max-message-bytes=800")
    cases["large/raw/canal-json"] = Case(scenario=GOLDEN / "strings.sql", sink_uri=uri, overrides=raw)
    for protocol in ("open-protocol", "canal-json", "simple"):
        limit = _uri("large", protocol, "&max-message-bytes=2048")
        cases[f"large/stop/{protocol}"] = Case(scenario=TOO_LARGE, sink_uri=limit)
        cases[f"large/skip/{protocol}"] = Case(
            scenario=TOO_LARGE, sink_uri=limit, overrides=["on-error=skip"]
        )
    cases["large/skip/bank"] = Case(
        scenario="bank",
        sink_uri=_uri("bank", "open-protocol", "&max-message-bytes=340"),
        overrides=["on-error=skip"],
        state_at=[_ts(500)],
    )
    return cases


FILTER = "changefeed.filter"
EVENT_FILTERS = f"{FILTER}.event-filters"
OPTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "by-ts": ("", (FOR_ALL.format("partition: ts"),)),
    "by-table": ("", (FOR_ALL.format("partition: table"),)),
    "by-columns": (
        "",
        (f"{DISPATCHERS}=[{{matcher: ['shop.order_items'], partition: columns, columns: [sku]}}]",),
    ),
    "topics": ("", (FOR_ALL.format("topic: 'of_{schema}_{table}', partition: table"),)),
    "rules": ("", (f"{FILTER}.rules=['*.*', '!shop.products', '!shop.order_items']",)),
    "event-filter": (
        "",
        (f"{EVENT_FILTERS}=[{{matcher: ['shop.*'], ignore-event: [delete], ignore-sql: ['RENAME COL']}}]",),
    ),
    "value-filter": (
        "",
        (f"{EVENT_FILTERS}=[{{matcher: [shop.customers], ignore-insert-value-expr: 'id > 3 AND vip = 0'}}]",),
    ),
    "columns": (
        "",
        ("changefeed.sink.column-selectors=[{matcher: ['shop.customers'], columns: ['*', '!fax']}]",),
    ),
    "batches": ("&max-batch-size=3", ()),
    "handle-keys": ("", ("changefeed.sink.delete-only-output-handle-key-columns=true",)),
    "updated-columns": ("&only-output-updated-columns=true", ()),
    "zone": ("&time-zone=Asia/Shanghai&ddl-text=original", ("session.time-zone='+05:30'",)),
    "resolved": (
        "",
        ("resolved.every=700ms", "clock.every=90ms", "clock.build-time=2000-01-01T00:00:00Z"),
    ),
    "no-ddl": ("&output-ddl=false", ()),
}
"""Parameters of the sink URI and overrides, by name."""


def _option_cases() -> Cases:
    cases = {
        f"options/{name}/{protocol}": Case(
            scenario="migrations", sink_uri=_uri("migrations", protocol, parameters), overrides=overrides
        )
        for name, (parameters, overrides) in OPTIONS.items()
        for protocol in ("open-protocol", "canal-json-tidb")
    }
    run_options: dict[str, dict[str, Any]] = {
        "dry-run": {"dry_run": True},
        "not-verified": {"verify_output": False},
        "seed": {"seed": 5},
    }
    cases |= {
        f"options/{name}/bank": Case(scenario="bank", run=arguments)
        for name, arguments in run_options.items()
    }
    return cases | {
        "options/one-partition/bank": Case(
            scenario="bank", sink_uri=_uri("bank", "open-protocol", partitions=1)
        ),
        "options/many-partitions/bank": Case(
            scenario="bank", sink_uri=_uri("bank", "open-protocol", partitions=40)
        ),
        "options/by-partition/craft": _golden_case("keys", "craft", "&batch-by=partition"),
        "options/no-schema/debezium": _golden_case("keys", "debezium", "&debezium-disable-schema=true"),
        "state-at/migrations": Case(scenario="migrations", state_at=[_ts(0), _ts(2), _ts(5)]),
        "state-at/ddl-mix": Case(scenario="ddl-mix", state_at=[_ts(10), _ts(30)]),
        "state-at/faulty": _faulty("open-protocol", *LEGAL, state_at=[_ts(3), _ts(13)]),
        "state-at/sysbench": Case(
            scenario="sysbench", sink_uri=_uri("sysbench", "canal-json-tidb"), state_at=[_ts(6)]
        ),
        "examples/customers": Case(scenario=ROOT / "examples" / "customers.yaml"),
        "strict/bank": Case(
            scenario="bank",
            verify={"strict_table_order": True, "from_beginning": True, "resolved_gap_ms": 5000},
        ),
    }


# Features of recent versions.

MARKED = partial(
    _written,
    "marked.sql",
    """\
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9)) SOFTDELETE RETENTION 7 DAY;
INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd');
DELETE FROM t WHERE id < 4;
INSERT INTO t VALUES (1, 'e');
SET tidb_translate_softdelete_sql = OFF;
DELETE FROM t WHERE id = 2;
SET tidb_translate_softdelete_sql = ON;
UPDATE t SET v = 'f' WHERE id = 4;
""",
)
NEW = "&profile=new"
AS_TEXT = "&avro-decimal-handling-mode=string&avro-bigint-unsigned-handling-mode=string"
CHECKSUMS = "changefeed.integrity.integrity-check-level=correctness"
OTHER_NAMES = FOR_ALL.format("target-schema: 'copy_of_{schema}', target-table: '{table}_1'")
IGNORED_UPDATES = (
    f"{EVENT_FILTERS}=[{{matcher: ['shop.*'], ignore-update-only-columns: [points, phone, vip]}}]"
)


def _feature_cases() -> Cases:
    of_protocols: dict[str, tuple[str | ScenarioMaker, str, tuple[str, ...], tuple[str, ...]]] = {
        "before-value": ("orders", f"{NEW}&avro-include-before-value=true", (), ("avro-watermark",)),
        "checksums": ("all-types", AS_TEXT, (CHECKSUMS,), ("avro-watermark",)),
        "checksums-of-simple": ("all-types", "", (CHECKSUMS,), ("simple", "simple-avro")),
        "other-names": ("migrations", NEW, (OTHER_NAMES,), ("open-protocol", "canal-json-tidb", "simple")),
        "ignored-updates": ("migrations", NEW, (IGNORED_UPDATES,), ("open-protocol",)),
        "soft-deletes": (MARKED, NEW, (), ("canal-json-tidb", "debezium-avro-watermark")),
    }
    return {
        f"features/{name}/{protocol}": Case(
            scenario=scenario, sink_uri=_uri(name, protocol, parameters), overrides=overrides
        )
        for name, (scenario, parameters, overrides, protocols) in of_protocols.items()
        for protocol in protocols
    }


# Storage, and runs that are too large for one process.


def _storage_cases() -> Cases:
    file = "file://{out}?protocol="
    sink = "changefeed.sink"
    commit_ts = f"{sink}.csv.include-commit-ts=true"
    layout = [
        commit_ts,
        f"{sink}.csv.output-field-header=true",
        f"{sink}.terminator='|'",
        f"{sink}.date-separator=month",
        f"{sink}.enable-partition-separator=false",
        f"{sink}.file-index-digit=6",
        f"{sink}.cloud-storage-config.flush-interval=2s",
        f"{sink}.cloud-storage-config.output-column-id=true",
    ]
    script = GOLDEN / "partition.sql"
    return {
        "storage/seed_t1/csv": Case(scenario="seed_t1", sink_uri=f"{file}csv", overrides=[commit_ts]),
        "storage/migrations/canal-json": Case(
            scenario="migrations", sink_uri=f"{file}canal-json&enable-tidb-extension=true"
        ),
        "storage/layout/csv": Case(scenario=script, sink_uri=f"{file}csv", overrides=[*layout, NOW]),
        "storage/behind/csv": Case(scenario=BEHIND, sink_uri=f"{file}csv", overrides=[commit_ts]),
        "storage/skip/csv": Case(
            scenario=GOLDEN / "enum_set_bit_json.sql", sink_uri=f"{file}csv", overrides=["on-error=skip", NOW]
        ),
        "storage/dry-run/csv": Case(scenario="seed_t1", sink_uri=f"{file}csv", run={"dry_run": True}),
    }


def _volume_cases() -> Cases:
    """A history of more than 100,000 events, which has more than 100,000 messages."""
    both = ("replay-suffix", "duplicate-event:rate=0.001", "lost-row", "wrong-partition")
    many = Case(
        scenario="bank",
        sink_uri=_uri("bank", "canal-json"),
        overrides=["steps[1].generate.transactions=51000"],
        inject=both,
    )
    return {"volume/bank/canal-json": many}


@cache
def cases() -> Cases:
    """All cases by name."""
    return (
        _shipped_cases()
        | _golden_cases()
        | _fault_cases()
        | _generated_cases()
        | _data_cases()
        | _large_message_cases()
        | _option_cases()
        | _feature_cases()
        | _storage_cases()
        | _volume_cases()
    )


def selected(words: Sequence[str]) -> list[str]:
    """The names of the cases that have one of these words, or paths, between slashes; all without words."""
    names = [name for name in cases() if not words or any(f"/{word}/" in f"/{name}/" for word in words)]
    if not names:
        raise SystemExit(f"no case has one of {', '.join(words)} in its name")
    return names


# Digests.


def digests(name: str, work: Path, engine: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Run a case, and return its digests by ``NAME`` and part.

    :param work: a folder for what the case writes.
    :param engine: more arguments of both ``run`` and ``verify``.
    """
    by_part = _digests(cases()[name], work, engine or {})
    return {f"{name}{part}": digest for part, digest in by_part.items()}


def _digests(case: Case, work: Path, engine: Mapping[str, Any]) -> dict[str, str]:
    scenario, out = _scenario(case, work), work / "out"
    sink_uri = None if case.sink_uri is None else case.sink_uri.replace("{out}", str(out))
    try:
        report = ticdc_producer.run(
            scenario,
            sink_uri=sink_uri,
            out=None if case.is_storage or case.run.get("dry_run") else out,
            overrides=case.overrides,
            inject=case.inject,
            state_at=case.state_at,
            **case.run,
            **engine,
        )
    except ProducerError as error:
        return {"": _refusal(error)}
    by_part = {"/report": _json_digest(work / "report.json", _report(report))}
    if out.exists():
        by_part[""] = tree_digest(out) if case.is_storage else folder_digest(out)
        source = {"sink_uri": sink_uri} if case.is_storage else {"folder": out}
        verdicts = _verdicts(case, scenario, {**source, **case.verify, **engine})
        by_part["/verify"] = _json_digest(work / "verify.json", verdicts)
    if report.verdict is not None:
        by_part["/verdict"] = _json_digest(work / "verdict.json", _content(report.verdict))
    return by_part


def _scenario(case: Case, work: Path) -> str | Path:
    if not callable(case.scenario):
        return case.scenario
    folder = work / "scenario"
    folder.mkdir(parents=True)
    return case.scenario(folder)


def _refusal(error: ProducerError) -> str:
    return f"{type(error).__name__}: {error.what}".replace(f"{ROOT}/", "")


def _report(report: RunReport) -> dict[str, Any]:
    """The report without what has a digest of its own, and without paths."""
    left_out = ("verdict", "target", "broker_pid", "engine")
    content = {key: value for key, value in report.to_json().items() if key not in left_out}
    return {**content, "ok": report.ok, "preview": report.preview, "row_changes": report.row_changes}


def _verdicts(case: Case, scenario: str | Path, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The verdicts of ``verify`` without and with the scenario, or why they were refused."""
    compared = {"scenario": scenario, "overrides": case.overrides, "state_at": case.state_at}
    return {"alone": _verdict(arguments), "compared": _verdict({**arguments, **compared})}


def _content(verdict: Verdict) -> dict[str, Any]:
    """The verdict without the engine, and without what a protocol never compares."""
    content: dict[str, Any] = {key: value for key, value in verdict.to_json().items() if key != "engine"}
    if verdict.comparison is not None:
        del content["comparison"]["not_compared"], content["comparison"]["not_compared_because"]
        if not verdict.comparison.different:
            del content["comparison"]["different"]
    return content


def _verdict(arguments: Mapping[str, Any]) -> dict[str, Any] | str:
    try:
        return _content(ticdc_producer.verify(**arguments))
    except ProducerError as error:
        return _refusal(error)


def _json_digest(path: Path, content: Any) -> str:
    """Write an object as JSON, and return the digest of the text."""
    text = json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True)
    path.write_text(text + "\n", "utf-8", "surrogateescape")
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def tree_digest(folder: Path) -> str:
    """The digest of the names and bytes of all files."""
    return _digest((_name(folder, path), path.read_bytes()) for path in folder.rglob("*") if path.is_file())


def folder_digest(folder: Path) -> str:
    """The digest of a golden folder: of its files' content, whether it is in lines or in Parquet."""
    return _digest(_contents(folder))


def _digest(contents: Iterable[tuple[str, bytes]]) -> str:
    total = sha256()
    for name, content in sorted(contents):
        total.update(f"{name} {len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()


def _contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    tables = [path for path in folder.glob("*.parquet") if path.is_dir()]
    yield from ((_name(folder, path), parquet_content(path)) for path in tables)
    for path in folder.rglob("*"):
        if any(path == table or table in path.parents for table in tables):
            continue
        name = _name(folder, path)
        if path.is_dir():
            yield f"{name}/", b""
        else:
            yield name, manifest_content(path) if name == "manifest.json" else path.read_bytes()


def _name(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()


def manifest_content(path: Path) -> bytes:
    """A manifest without what may differ while messages, events and rows are the same.

    That is the version of the tool, the digests of files and of the scenario's text, the sums of rows, and
    the options that have their default: a new option changes no digest.
    """
    content = json.loads(path.read_text("utf-8"))
    defaults = {parameter.name: parameter.default for parameter in PARAMETERS}
    changefeed = content["changefeed"].items()
    content["changefeed"] = {
        name: value for name, value in changefeed if name not in defaults or value != defaults[name]
    }
    content["files"] = sorted({name.partition(".parquet/")[0] for name in content["files"]})
    content["scenario"].pop("sha256")
    del content["tool"]
    content.pop("row_sums", None)
    return json.dumps(content, sort_keys=True).encode()


def parquet_content(folder: Path) -> bytes:
    """The columns and the sorted rows of Parquet files."""
    table = pq.read_table(folder)
    columns = [f"{column.name} {column.type}" for column in table.schema]
    rows = sorted(map(repr, table.to_pylist()))
    return "\n".join([*columns, *rows]).encode("utf-8", "surrogateescape")


# The command.


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.runs.digests", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("out", type=Path, help="the file to write")
    parser.add_argument("--select", default="", help="parts of the names of cases, such as seed_t1,bank/own")
    parser.add_argument(
        "--engine-arg",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="argument of run and verify, as YAML",
    )
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave what the cases write in this folder")
    return parser.parse_args(arguments)


def _engine_arguments(settings: Iterable[str]) -> dict[str, Any]:
    pairs = (setting.partition("=") for setting in settings)
    return {name: yaml.safe_load(value) for name, _, value in pairs}


def _record(name: str, folder: Path | None, engine: Mapping[str, Any]) -> dict[str, str]:
    """The digests of a case; of one that crashes, the name of the exception."""
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary) if folder is None else folder / name
        work.mkdir(parents=True, exist_ok=folder is None)
        try:
            return digests(name, work, engine)
        except Exception as error:  # the other cases are recorded, too
            traceback.print_exc()
            return {name: f"crashed: {type(error).__name__}"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Record digests; the exit code is 1 if a case crashed."""
    given = _arguments(arguments)
    if given.keep is not None and given.keep.exists():
        raise SystemExit(f"{given.keep} exists")
    names = selected([word for word in given.select.split(",") if word])
    engine = _engine_arguments(given.engine_arg)
    by_name: dict[str, str] = {}
    for name in names:
        started = perf_counter()
        by_name |= _record(name, given.keep, engine)
        print(f"{perf_counter() - started:6.2f} s  {name}", file=sys.stderr)
    given.out.write_text(json.dumps(by_name, ensure_ascii=False, indent=0, sort_keys=True) + "\n", "utf-8")
    crashed = [name for name in names if by_name.get(name, "").startswith("crashed: ")]
    print(f"{len(names)} cases, {len(by_name)} digests, {len(crashed)} crashed, of {ticdc_producer.__file__}")
    return 1 if crashed else 0


if __name__ == "__main__":
    sys.exit(main())
