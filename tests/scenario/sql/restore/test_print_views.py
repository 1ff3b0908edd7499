"""Expressions and queries as printed by ``print_ddl``; the expected texts are those of TiDB's parser."""

from __future__ import annotations

import pytest

from ticdc_producer.scenario.sql.restore import print_ddl

_VIEW = "CREATE ALGORITHM = UNDEFINED DEFINER = CURRENT_USER SQL SECURITY DEFINER VIEW `v` AS SELECT "


@pytest.mark.parametrize(("typed", "printed"), [
    ("+a", "+`a`"),
    ("- -1", "--1"),
    ("!a", "!`a`"),
    ("not not a", "NOT NOT `a`"),
    ("a <> b", "`a`!=`b`"),
    ("a && b || c xor d", "`a` AND `b` OR `c` XOR `d`"),
    ("a mod b div c", "`a`%`b` DIV `c`"),
    ("a is not unknown", "`a` IS NOT NULL"),
    ("not a in (1, 2)", "NOT `a` IN (1,2)"),
    ("a not in (1, 2)", "`a` NOT IN (1,2)"),
    ("a like 'x' escape '!'", "`a` LIKE _UTF8MB4'x' ESCAPE '!'"),
    ("a rlike 'x'", "`a` REGEXP _UTF8MB4'x'"),
    ("a between 1 and b and c", "`a` BETWEEN 1 AND `b` AND `c`"),
    ("(a, b) = row(1, 2)", "ROW(`a`,`b`)=ROW(1,2)"),
    ("((a))", "((`a`))"),
    ("a >= any (select 1)", "`a`>=ANY (SELECT 1)"),
    ("exists (select 1)", "EXISTS (SELECT 1)"),
    ("a + interval 1 day", "DATE_ADD(`a`, INTERVAL 1 DAY)"),
    ("interval '1:2' minute_second + a", "DATE_ADD(`a`, INTERVAL _UTF8MB4'1:2' MINUTE_SECOND)"),
    ("a * 2 - interval b + 1 sql_tsi_month", "DATE_SUB(`a`*2, INTERVAL `b`+1 MONTH)"),
    ("interval(a, 1, 2)", "INTERVAL(`a`, 1, 2)"),
    ("a->'$.x'", "JSON_EXTRACT(`a`, _UTF8MB4'$.x')"),
    ("t.a->>'$.x'", "JSON_UNQUOTE(JSON_EXTRACT(`t`.`a`, _UTF8MB4'$.x'))"),
    ("binary a collate UTF8MB4_BIN", "BINARY `a` COLLATE utf8mb4_bin"),
    ("case a when 1 then 'x' else 'y' end", "CASE `a` WHEN 1 THEN _UTF8MB4'x' ELSE _UTF8MB4'y' END"),
    ("case when a then 1 end", "CASE WHEN `a` THEN 1 END"),
    ("cast(a as char(3) charset latin1)", "CAST(`a` AS CHAR(3) CHARSET LATIN1)"),
    ("cast(a as decimal(5,2))", "CAST(`a` AS DECIMAL(5, 2))"),
    ("cast(a as unsigned array)", "CAST(`a` AS UNSIGNED ARRAY)"),
    ("convert(a using UTF8)", "CONVERT(`a` USING 'utf8')"),
    ("convert(a, signed integer)", "CONVERT(`a`, SIGNED)"),
    ("char(65 using utf8)", "CHAR_FUNC(65, 'utf8')"),
    ("count(*)", "COUNT(1)"),
    ("count(distinct a, b)", "COUNT(DISTINCT `a`, `b`)"),
    ("std(a)", "STDDEV_POP(`a`)"),
    (
        "group_concat(distinct a order by b desc separator ';')",
        "GROUP_CONCAT(DISTINCT `a` ORDER BY `b` DESC SEPARATOR ';')",
    ),
    (
        "sum(a) over (partition by b order by c desc rows 2 preceding)",
        "SUM(`a`) OVER (PARTITION BY `b` ORDER BY `c` DESC ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
    ),
    ("lag(a, 1) ignore nulls over w", "LAG(`a`, 1) IGNORE NULLS OVER `w`"),
    ("trim(both from a)", "TRIM(BOTH _UTF8MB4' ' FROM `a`)"),
    ("trim(leading 'x' from a)", "TRIM(LEADING _UTF8MB4'x' FROM `a`)"),
    ("substring(a from 1 for 2)", "SUBSTRING(`a`, 1, 2)"),
    ("adddate(a, 1)", "ADDDATE(`a`, INTERVAL 1 DAY)"),
    ("extract(year_month from a)", "EXTRACT(YEAR_MONTH FROM `a`)"),
    ("timestampdiff(sql_tsi_day, a, b)", "TIMESTAMPDIFF(DAY, `a`, `b`)"),
    ("position('x' in a)", "POSITION(_UTF8MB4'x' IN `a`)"),
    ("mod(a, b)", "`a`%`b`"),
    ("current_timestamp", "CURRENT_TIMESTAMP()"),
    ("utc_date()", "UTC_DATE()"),
    ("date '2020-01-01'", "DATE '2020-01-01'"),
    ("{ts '2020-01-01 00:00:00'}", "TIMESTAMP '2020-01-01 00:00:00'"),
    ("db.func(a)", "`db`.`func`(`a`)"),
    ("values(a)", "VALUES(`a`)"),
    ("'a' 'b'", "_UTF8MB4'ab'"),
])  # fmt: skip
def test_expressions(typed: str, printed: str) -> None:
    assert print_ddl(f"create view v as select {typed}") == _VIEW + printed


@pytest.mark.parametrize(("typed", "printed"), [
    ("a.*, d.a.*, b c, d 'e' from a", "`a`.*,`d`.`a`.*,`b` AS `c`,`d` AS `e` FROM `a`"),
    ("1 from dual", "1"),
    ("1 where 2", "1 FROM DUAL WHERE 2"),
    (
        "distinct a from t group by a, b desc having count(a) > 1 order by a asc, b desc limit 10 offset 5",
        "DISTINCT `a` FROM `t` GROUP BY `a`,`b` DESC HAVING COUNT(`a`)>1 ORDER BY `a`,`b` DESC LIMIT 5,10",
    ),
    ("a from t group by a with rollup", "`a` FROM `t` GROUP BY `a` WITH ROLLUP"),
    ("* from a, b c, d", "* FROM ((`a`) JOIN `b` AS `c`) JOIN `d`"),
    (
        "* from a join b on a.x = b.x left outer join c using (x, y)",
        "* FROM (`a` JOIN `b` ON `a`.`x`=`b`.`x`) LEFT JOIN `c` USING (`x`,`y`)",
    ),
    (
        "* from a join b join c on b.x = c.x on a.x = b.x",
        "* FROM `a` JOIN (`b` JOIN `c` ON `b`.`x`=`c`.`x`) ON `a`.`x`=`b`.`x`",
    ),
    ("* from a, b join c on 1", "* FROM (`a`) JOIN (`b` JOIN `c` ON 1)"),
    ("* from a cross join b join c on 1", "* FROM (`a` JOIN `b`) JOIN `c` ON 1"),
    ("* from a natural join b", "* FROM `a` NATURAL JOIN `b`"),
    ("* from (select 1) x, b", "* FROM (SELECT 1) AS `x`, `b`"),
    ("* from ((select 1) union (select 2)) x", "* FROM ((SELECT 1) UNION (SELECT 2)) AS `x`"),
    (
        "* from a partition (p) as x use index (i, primary) ignore key for join (k)",
        "* FROM `a` PARTITION(`p`) AS `x` USE INDEX (`i`, `primary`) IGNORE INDEX FOR JOIN (`k`)",
    ),
    (
        "1 union distinct select 2 union all (select 3 order by 1) limit 1",
        "1 UNION SELECT 2 UNION ALL (SELECT 3 ORDER BY 1) LIMIT 1",
    ),
    (
        "a from t where a in (select b from u where u.x = t.x) window w as (order by a)",
        "`a` FROM `t` WHERE `a` IN (SELECT `b` FROM `u` WHERE `u`.`x`=`t`.`x`) WINDOW `w` AS (ORDER BY `a`)",
    ),
    ("(select max(a) from t) as m", "(SELECT MAX(`a`) FROM `t`) AS `m`"),
    ("(((select 1)))", "(((SELECT 1)))"),
    ("((select 1) union (select 2)) + 1", "((SELECT 1) UNION (SELECT 2))+1"),
])  # fmt: skip
def test_queries(typed: str, printed: str) -> None:
    assert print_ddl(f"create view v as select {typed}") == _VIEW + printed


@pytest.mark.parametrize(("typed", "printed"), [
    (
        ("create or replace algorithm=merge definer=`root`@`%` sql security invoker view d.v as "
        "select 1 with local check option"),
        ("CREATE OR REPLACE ALGORITHM = MERGE DEFINER = `root`@`%` SQL SECURITY INVOKER VIEW "
        "`d`.`v` AS SELECT 1 WITH LOCAL CHECK OPTION"),
    ),
    (
        "create definer=root view v (a, `b c`) as select 1, 2 with cascaded check option",
        ("CREATE ALGORITHM = UNDEFINED DEFINER = `root`@`%` SQL SECURITY DEFINER VIEW `v` (`a`,`b "
        "c`) AS SELECT 1,2"),
    ),
    (
        "create view v as ((select 1)) limit 1",
        ("CREATE ALGORITHM = UNDEFINED DEFINER = CURRENT_USER SQL SECURITY DEFINER VIEW `v` AS "
        "(SELECT 1) LIMIT 1"),
    ),
    (
        "create view v as with recursive c (n) as (select 1 union all select n + 1 from c) select * from c",
        ("CREATE ALGORITHM = UNDEFINED DEFINER = CURRENT_USER SQL SECURITY DEFINER VIEW `v` AS WITH "
        "RECURSIVE `c` (`n`) AS (SELECT 1 UNION ALL SELECT `n`+1 FROM `c`) SELECT * FROM `c`"),
    ),
])  # fmt: skip
def test_views(typed: str, printed: str) -> None:
    assert print_ddl(typed) == printed
