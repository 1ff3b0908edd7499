"""Any text gives a history or a ScenarioError."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.session.session import Session

_WORDS = """
create table drop truncate insert into replace update delete from set where values t u id v a int
varchar(5) decimal(5,2) primary key unique ( ) , ; = <=> + - * / div mod % and or not null is in
between like collate utf8mb4_bin default auto_increment 'x' '1' "y" `id` x'ff' b'1' 0 1 -1 1.5 1e3
1e999 now() concat( repeat('a',99) begin commit rollback order by limit 2 on duplicate key update
v=values(v) database use test date'2020-01-01' cast(1 as char) case when then end if( ' " ` /* */
/*! -- # \\ @ @@ : ? { } 99999999999999999999 😀 interval exists (select 1) enum('a','b') charset
latin1 partition
"""
_FRAGMENTS = st.sampled_from(_WORDS.split())
_STATEMENTS = st.sampled_from(
    [
        "insert into t values (1, 'a', 1.5)",
        "update t set v = 'b', id = id + 1 where id in (1, 2) order by id limit 1",
        "delete from t where d / 0 is null or v like 'a%'",
        "create table if not exists u (id int primary key, v varchar(5) default 'x' collate utf8mb4_bin)",
        "replace into t set id = 1",
        "set time_zone = '+01:00', sql_mode = ''",
    ]
)


@example(["update t set v = 'b' limit 1", "#"], "")
@given(st.lists(_FRAGMENTS | _STATEMENTS, max_size=15), st.sampled_from([" ", "", "\n"]))
def test_nothing_but_scenario_errors(fragments: list[str], between: str) -> None:
    session = Session(file="a.sql")
    session.run("create table t (id int primary key, v varchar(5), d decimal(5,2));")
    error: ScenarioError | None = None
    try:
        session.run(between.join(fragments))
    except ScenarioError as caught:
        error = caught
    assert error is None or (error.file == "a.sql" and error.line >= 1)
    session.history()
