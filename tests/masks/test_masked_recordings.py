"""Recordings with rules: what they leave out, what they refuse, and what they never show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyarrow import parquet

from tests.recording.test_record import golden, rows
from ticdc_producer import ProducerError, mask, record, run, suggest_rules, transcode
from ticdc_producer.masks.rules import KEY_VARIABLE

SECRET = "a key of the tests"
SQL = """
CREATE TABLE users (
  id BIGINT PRIMARY KEY,
  email VARCHAR(64) NOT NULL DEFAULT 'nobody@nowhere.example' COMMENT 'ask Barbara Gordon',
  state ENUM('activated','disabled') DEFAULT 'disabled',
  shout VARCHAR(80) AS (UPPER(email)) STORED,
  UNIQUE KEY (email)
) COMMENT 'of Gotham City';
CREATE TABLE orders (id INT PRIMARY KEY, user_id BIGINT, note TEXT);
INSERT INTO users (id, email) VALUES (77001, 'ann.miller@example.com'), (77002, 'bob.smithson@example.com');
INSERT INTO orders VALUES (1, 77001, 'call Ann Miller at noon');
ALTER TABLE users ADD COLUMN phone VARCHAR(20) DEFAULT '+49 89 1234567';
ALTER TABLE users ALTER COLUMN email SET DEFAULT 'someone@else.example';
UPDATE users SET email = 'carl.baker@example.com' WHERE id = 77002;
DELETE FROM users WHERE id = 77001;
"""
RULES = """
rules:
- {columns: [users.id, user_id], method: hash}
- {columns: [email, phone, state, note], method: format}
"""
T = "CREATE TABLE t (id INT PRIMARY KEY"
SECRETS = [
    *("nobody@nowhere", "Barbara", "Gotham", "activated", "disabled", "ann.miller", "ANN.MILLER"),
    *("Ann Miller", "bob.smithson", "carl.baker", "1234567", "someone@else", "77001", "77002"),
]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, SECRET)


def rules(folder: Path, text: str = RULES) -> Path:
    path = folder / "rules.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("protocol", ["open-protocol", pytest.param("simple", marks=pytest.mark.slow)])
def test_a_recording_holds_no_value_of_its_masked_columns(tmp_path: Path, protocol: str) -> None:
    folder = golden(tmp_path / "golden", protocol, SQL)
    report = record(folder=folder, out=tmp_path / "recording", mask=rules(tmp_path))
    assert run(tmp_path / "recording", out=tmp_path / "again", engine="local").ok
    written = [repr(parquet.read_table(tmp_path / "recording" / "changes.parquet").to_pylist())]
    written += [path.read_text() for path in (tmp_path / "again").rglob("*") if path.is_file()]
    written += [*report.lines()]
    assert not [secret for secret in [*SECRETS, SECRET] for text in written if secret in text]
    (user,) = map(json.loads, (tmp_path / "again/state/test.users.jsonl").read_text().splitlines())
    assert user["shout"] == user["email"].upper()


def test_references_hold_and_the_report_names_what_stays_in_clear(tmp_path: Path) -> None:
    folder = golden(tmp_path / "golden", "open-protocol", SQL)
    report = record(folder=folder, out=tmp_path / "r", mask=rules(tmp_path))
    (order,) = (dict(row["after"]) for row in rows(tmp_path / "r") if row["table"] == "orders" and row["op"])
    users = {
        dict(row["after"])["id"] for row in rows(tmp_path / "r") if row["table"] == "users" and row["after"]
    }
    assert order["user_id"] in users
    assert "in clear in test.orders: id" in report.notes
    assert "in clear in test.users: shout (computed)" in report.notes
    assert not any("matches no column" in note for note in report.notes)


@pytest.mark.parametrize(
    ("sql", "text", "what"),
    [
        (f"{T}, a INT, CHECK (a < 4711))", "format", "an expression about a of test.t"),
        (f"{T}, a INT AS (id + 1) STORED)", "keep", ""),
        ("CREATE TABLE t (a INT PRIMARY KEY) PARTITION BY RANGE (a) (PARTITION p VALUES LESS THAN (4711))",
         "format", "test.t has RANGE partitions by the masked column a"),
        (f"{T}, a VARCHAR(9) UNIQUE)", "null", ""),
        ("CREATE TABLE t (a INT PRIMARY KEY)", "null", "null does not mask test.t.a, which is NOT NULL"),
        ("CREATE TABLE t (a VARCHAR(40) PRIMARY KEY)", "{fake}", "fake does not keep test.t.a unique"),
        (f"{T}, a INT); ALTER TABLE t RENAME COLUMN a TO b", "format",
         "gives values to a column with another mask: test.t.a becomes test.t.b"),
        (f"{T}, a VARCHAR(9)); ALTER TABLE t MODIFY a INT", "format",
         "converts masked values to int: test.t.a becomes test.t.a"),
        (f"CREATE TABLE p (id INT PRIMARY KEY); {T}, a INT, FOREIGN KEY (a) REFERENCES p (id))", "format",
         "test.t.a refers to test.p.id, which has another mask"),
        (f"{T}, a INT)", "date-shift", "test.t.a is int"),
    ],
)  # fmt: skip
def test_what_cannot_be_masked_is_refused_by_name(tmp_path: Path, sql: str, text: str, what: str) -> None:
    method = "fake, provider: name" if text == "{fake}" else text
    given = rules(tmp_path, f"rules: [{{columns: [t.a], method: {method}}}]")
    folder = golden(tmp_path / "golden", "open-protocol", sql)
    if not what:
        assert record(folder=folder, out=tmp_path / "recording", mask=given).events["ddl"]
        return
    with pytest.raises(ProducerError, match=what) as error:
        record(folder=folder, out=tmp_path / "recording", mask=given)
    assert "4711" not in str(error.value)
    assert not (tmp_path / "recording").exists()


def test_rules_are_checked_with_the_recorded_tables_alone(tmp_path: Path) -> None:
    sql = "CREATE TABLE t (a INT PRIMARY KEY); CREATE TABLE u (id INT PRIMARY KEY, a INT)"
    folder = golden(tmp_path / "golden", "open-protocol", sql)
    given = rules(tmp_path, "rules: [{columns: [a], method: null}]")
    report = record(folder=folder, out=tmp_path / "r", mask=given, table=["*.*", "!test.t"])
    assert "masked in test.u: a (null)" in report.notes
    assert not [note for note in report.notes if "test.t" in note]


def test_a_value_of_a_key_that_may_become_another_one_is_refused(tmp_path: Path) -> None:
    sql = "CREATE TABLE t (a VARCHAR(9) PRIMARY KEY); INSERT INTO t VALUES ('josé')"
    folder = golden(tmp_path / "golden", "open-protocol", sql)
    with pytest.raises(
        ProducerError, match=r"shop/\d@\d: format does not keep a value of test.t.a unique"
    ) as error:
        record(folder=folder, out=tmp_path / "r", mask=rules(tmp_path, "rules: [{method: format}]"))
    assert "jos" not in str(error.value)


def test_damage_is_named_by_its_position(tmp_path: Path) -> None:
    folder = golden(tmp_path / "golden", "simple", SQL)
    file = tmp_path / "messages.jsonl"
    lines = (folder / "messages.jsonl").read_text().splitlines()
    damaged = {**json.loads(lines[-1]), "value": "eyJhbm4ubWlsbGVyQGV4YW1wbGUuY29tIjo="}
    file.write_text("\n".join([*lines[:-1], json.dumps(damaged)]))
    given = {"sink_uri": "kafka:///shop?protocol=simple", "messages": file, "mask": rules(tmp_path)}
    with pytest.raises(ProducerError, match=r"shop/2@\d+") as error:
        record(**given, out=tmp_path / "recording")
    assert "ann.miller" not in str(error.value)
    assert record(**given, out=tmp_path / "recording", skip_damaged=True).damaged == 1


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("rules: [{method: scramble}]", r"rules.yaml:1: rules\[0\].method"),
        ("rules:\n- {colums: [a], method: keep}", "rules.yaml:2: .*colums"),
        ("rules: [{method: fake}]", "fake requires a provider"),
        ("rules: []\nkey: {env: NOT_SET}", "the environment variable NOT_SET holds it"),
    ],
)
def test_rules_are_checked_first(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(ProducerError, match=what):
        record(folder=tmp_path / "none", out=tmp_path / "recording", mask=rules(tmp_path, text))


def test_the_key_may_be_in_a_file(tmp_path: Path) -> None:
    folder = golden(tmp_path / "golden", "open-protocol", SQL)
    record(folder=folder, out=tmp_path / "first", mask=rules(tmp_path))
    (tmp_path / "key").write_text(f"{SECRET}\n")
    record(folder=folder, out=tmp_path / "second", mask=rules(tmp_path, f"{RULES}\nkey: {{file: key}}"))
    assert rows(tmp_path / "first") == rows(tmp_path / "second")


def test_what_is_transcoded_is_masked(tmp_path: Path) -> None:
    uri = "kafka:///open?protocol=open-protocol"
    folder = golden(tmp_path / "golden", "simple", SQL)
    transcode(folder=folder, mask=rules(tmp_path), to_sink_uri=uri, out=tmp_path / "open")
    events = (tmp_path / "open" / "events.jsonl").read_text()
    assert not [secret for secret in SECRETS if secret in events]


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("UPDATE users SET email = 'ann.miller@example.com'", "dump.sql:12: UPDATE has values"),
        (
            "INSERT INTO users (email) VALUES (CONCAT('ann.miller', 1))",
            "12: this INSERT has a value that is not",
        ),
        ("INSERT INTO nothing VALUES ('ann.miller')", "dump.sql:12: this INSERT cannot be read"),
    ],
)
def test_a_dump_that_cannot_be_masked_is_refused(tmp_path: Path, statement: str, what: str) -> None:
    dump = tmp_path / "dump.sql"
    dump.write_text(f"{SQL.partition('ALTER')[0]}{statement};\n")
    with pytest.raises(ProducerError, match=what) as error:
        mask(dump, rules=rules(tmp_path), out=tmp_path / "masked.sql")
    assert "ann.miller" not in str(error.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dump.sql", "rules.yaml"]


def test_an_empty_dump_is_empty(tmp_path: Path) -> None:
    (tmp_path / "dump.sql").write_text("")
    mask(tmp_path / "dump.sql", rules=rules(tmp_path), out=tmp_path / "masked.sql")
    assert (tmp_path / "masked.sql").read_text() == ""


def test_rules_are_proposed_by_names_and_values(tmp_path: Path) -> None:
    sql = """
    CREATE TABLE t (id INT PRIMARY KEY, contact VARCHAR(40), first_name VARCHAR(20), birthday DATE, n INT);
    INSERT INTO t VALUES (1, 'ann@example.com', 'Ann', '2000-01-01', 5);
    """
    (tmp_path / "dump.sql").write_text(sql)
    text = suggest_rules(tmp_path / "dump.sql")
    assert text == suggest_rules(folder=golden(tmp_path / "golden", "open-protocol", sql))
    assert "#   test.t.n\n" in text
    given = rules(tmp_path, text)
    notes = mask(tmp_path / "dump.sql", rules=given, out=tmp_path / "masked.sql").notes
    assert "masked in test.t: contact (format), first_name (fake), birthday (date-shift)" in notes
