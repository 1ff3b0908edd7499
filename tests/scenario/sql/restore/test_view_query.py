"""The SELECT of CREATE VIEW in DDL events of TiCDC new architecture.

The first and the third case are the examples of ticdc ``pkg/common/event/ddl_query_normalizer.go``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sql_messages import catalog_of

TABLES = """
CREATE DATABASE source_db;
CREATE DATABASE target_db;
CREATE TABLE source_db.orders (id INT PRIMARY KEY, v INT);
CREATE TABLE source_db.users (id INT PRIMARY KEY, name VARCHAR(9));
USE source_db;
"""
ORDERS, USERS = "`source_db`.`orders`", "`source_db`.`users`"
EXISTS = "exists (select 1 from users where users.id = orders.v)"
STAR = (
    "SELECT `o`.`id` AS `k`,`source_db`.`u`.`id` AS `id`,`source_db`.`u`.`name` AS `name` "
    f"FROM ({ORDERS} AS `o`) JOIN {USERS} AS `u`"
)
UNNAMED = (
    f"SELECT 1+COUNT(1) AS `1 + count(*)`,_UTF8MB4'x' AS `x` FROM {ORDERS} "
    f"WHERE EXISTS (SELECT 1 AS `1` FROM {USERS} WHERE {USERS}.`id`=`orders`.`v`)"
)
UNION = (
    f"SELECT `id` AS `id` FROM {ORDERS} UNION "
    f"SELECT `x`.`id` AS `id` FROM (SELECT `id` AS `id` FROM {USERS}) AS `x` ORDER BY `id`"
)


def _query(folder: Path, statement: str, profile: str) -> str:
    """The text of CREATE VIEW from the name of the view on."""
    catalog = catalog_of(folder, TABLES + statement, f"protocol=canal-json&profile={profile}")
    return catalog.ddls[-1].query.partition(" VIEW ")[2]


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("select id from users", f"SELECT `id` AS `id` FROM {USERS}"),
        ("select * from users", f"SELECT {USERS}.`id` AS `id`,{USERS}.`name` AS `name` FROM {USERS}"),
        ("select orders.id from orders", f"SELECT {ORDERS}.`id` AS `id` FROM {ORDERS}"),
        ("select o.id from orders o", f"SELECT `o`.`id` AS `id` FROM {ORDERS} AS `o`"),
        ("select o.id k, u.* from orders as o, source_db.users u", STAR),
        (f"select 1 + count(*), 'x' from orders where {EXISTS}", UNNAMED),
        (
            "with c as (select id from orders) select c.id from c",
            f"WITH `c` AS (SELECT `id` AS `id` FROM {ORDERS}) SELECT `c`.`id` AS `id` FROM `c`",
        ),
        ("select id from orders union select x.id from (select id from users) x order by id", UNION),
    ],
)
def test_a_view_of_another_database_has_tidbs_select(tmp_path: Path, typed: str, sent: str) -> None:
    statement = f"create view target_db.v as {typed} with local check option;"
    if "union" in typed or "with c" in typed:
        statement = f"create view target_db.v as {typed};"
    text = _query(tmp_path, statement, "new")
    assert text.removesuffix(" WITH LOCAL CHECK OPTION") == f"`target_db`.`v` AS {sent}"
    classic = _query(tmp_path, statement, "classic")
    assert "`source_db`" not in classic.replace("`source_db`.`users` AS `u`", "")


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("select id, v from orders where v > 1", "SELECT `id`,`v` FROM `orders` WHERE `v`>1"),
        ("select * from orders", "SELECT * FROM `orders`"),
        ("select o.id from orders o", "SELECT `o`.`id` FROM `orders` AS `o`"),
        ("select orders.id from orders", f"SELECT {ORDERS}.`id` AS `id` FROM {ORDERS}"),
    ],
)
def test_a_view_of_its_own_database_has_it_if_columns_name_tables(
    tmp_path: Path, typed: str, sent: str
) -> None:
    assert _query(tmp_path, f"create view v as {typed};", "new") == f"`v` AS {sent}"


@pytest.mark.parametrize(
    ("columns", "typed"),
    [
        ("(a)", "SELECT * FROM (SELECT `id` FROM `orders`) AS `x`"),
        ("(a, b, c)", "SELECT * FROM `orders` JOIN `users` USING (`id`)"),
        ("(a)", "SELECT `id` AS `k` FROM `orders` GROUP BY `k`"),
        ("(a)", "SELECT `id` FROM `orders` GROUP BY 1"),
        ("(a, b)", "SELECT 1,1 FROM `orders`"),
    ],
)
def test_a_select_whose_stored_text_is_unknown_is_sent_as_typed(
    tmp_path: Path, columns: str, typed: str
) -> None:
    assert _query(tmp_path, f"create view target_db.v {columns} as {typed};", "new").endswith(f" AS {typed}")
