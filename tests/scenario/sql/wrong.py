"""Runs invalid statements against test tables and compares their messages."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.scenario.sql.session.session import Session

TABLE = """create table t (
  id int primary key, u int unique, v varchar(5) not null, d decimal(5,2), dt datetime,
  e enum('a','b'), s set('x','y'), y year, ti tinyint unsigned, j json, b bit(3), bin binary(2), tm time,
  ts timestamp null default null, asc_ varchar(5) character set ascii, f float(5,2)
);
"""
TABLES = """create table two (a int, b int, c int as (a + 1), primary key (a), key ab (a, b));
create table nn (a int not null, b int, unique key ua (a));
create table p (id int, r int, primary key (id, r)) partition by range (r)
  (partition p0 values less than (10), partition p1 values less than (20));
create table h (id int primary key) partition by hash (id) partitions 3;
create table notes (id int primary key, note varchar(20));
insert into notes values (1, 'written');
insert into t (id, v) values (1, 'a');
create view w as select 1;
"""
LINE = (TABLE + TABLES).count("\n") + 1


def failure(statement: str) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        Session(file="a.sql").run(TABLE + TABLES + statement)
    return caught.value


class Wrong(NamedTuple):
    """A statement, the error's message without file and line, and the error's fields."""

    statement: str
    message: str
    column: str = ""
    value: str = ""


def check(wrong: Wrong) -> None:
    error = failure(wrong.statement + ";")
    assert str(error) == f"a.sql:{LINE}: {wrong.message}"
    assert not isinstance(error, UnsupportedSQL)
    actual = error.file, error.line, error.column, error.value
    assert actual == ("a.sql", LINE, wrong.column, wrong.value)
