"""Supported SQL constructs with examples: ``docs/sql.md`` lists them and tests run them."""

from __future__ import annotations

from typing import NamedTuple


class Example(NamedTuple):
    """A construct, as the documentation names it, and SQL that uses it.

    :param commits: number of commits of ``sql``.
    :param before: SQL that runs first; its commits are not counted.
    """

    construct: str
    sql: str
    commits: int = 1
    before: str = ""


T = "create table t (id int primary key, v varchar(9), n int); insert into t values (1, 'a', 1);"
TWO = T + "create table u (id int primary key, v varchar(9), n int);"
RANGE = (
    "create table r (id int primary key, v int) partition by range (id) "
    "(partition p0 values less than (10), partition p1 values less than (20));"
    "insert into r values (1, 1), (11, 1);"
)

STATEMENTS: dict[str, tuple[Example, ...]] = {
    "databases": (
        Example("CREATE DATABASE [IF NOT EXISTS]", "create database shop charset utf8mb4"),
        Example("ALTER DATABASE charset, collation, placement", "alter database test collate utf8mb4_bin"),
        Example("DROP DATABASE [IF EXISTS]", "drop database test"),
        Example("USE", "use test", 0),
    ),
    "tables": (
        Example("CREATE TABLE [IF NOT EXISTS]", "create table if not exists x (id int primary key)"),
        Example("CREATE TABLE … LIKE", "create table x like t", before=T),
        Example(
            "CREATE, TRUNCATE and DROP TEMPORARY TABLE",
            "create temporary table x like t; truncate x; drop temporary table x;"
            "drop temporary tables if exists x",
            0,
            T,
        ),
        Example(
            "CREATE and DROP GLOBAL TEMPORARY TABLE (its rows are not sent)",
            "create global temporary table x (a int) on commit delete rows; drop global temporary table x;"
            "drop global temporary tables if exists x",
            2,
        ),
        Example("DROP TABLE [IF EXISTS] a, b", "drop table t, u", 2, TWO),
        Example("TRUNCATE [TABLE]", "truncate table t", before=T),
        Example("RENAME TABLE a TO b, …", "rename table t to x, u to t", before=TWO),
        Example("CREATE [UNIQUE] INDEX", "create unique index i on t (v)", before=T),
        Example("DROP INDEX", "drop index i on t", before=T + "create index i on t (v);"),
    ),
    "views, sequences and placement policies": (
        Example("CREATE [OR REPLACE] VIEW", "create or replace view w as select v from t", before=T),
        Example("DROP VIEW", "drop view w", before="create view w as select 1;"),
        Example("CREATE SEQUENCE", "create sequence s start 5"),
        Example(
            "NEXTVAL, NEXT VALUE FOR, LASTVAL, SETVAL",
            "insert into t values (nextval(s), lastval(s), setval(s, 9)), (next value for test.s, 'b', 0)",
            before=T + "create sequence s start 5 increment by 2;",
        ),
        Example("ALTER SEQUENCE", "alter sequence s increment 2", before="create sequence s;"),
        Example("DROP SEQUENCE", "drop sequence s", before="create sequence s;"),
        Example("CREATE PLACEMENT POLICY", "create placement policy p followers = 3"),
        Example(
            "ALTER PLACEMENT POLICY",
            "alter placement policy p followers = 2",
            before="create placement policy p;",
        ),
        Example("DROP PLACEMENT POLICY", "drop placement policy p", before="create placement policy p;"),
    ),
    "rows": (
        Example("INSERT … VALUES", "insert into t (id, v) values (2, 'b'), (3, default)", before=T),
        Example("INSERT … SET", "insert into t set id = 2, v = 'b'", before=T),
        Example(
            "INSERT … ON DUPLICATE KEY UPDATE",
            "insert into t values (1, 'b', 2) on duplicate key update n = n + values(n)",
            before=T,
        ),
        Example("INSERT IGNORE", "insert ignore into t values (1, 'b', 2)", before=T),
        Example(
            "INSERT … SELECT",
            "insert into u select id, upper(v), 0 from t where id < 5 order by id limit 3 offset 0",
            before=TWO,
        ),
        Example("REPLACE", "replace into t values (1, 'b', 2)", before=T),
        Example(
            "UPDATE … WHERE … ORDER BY … LIMIT",
            "update t set n = n + 1, v = concat(v, n) where id > 0 order by id desc limit 5",
            before=T,
        ),
        Example("UPDATE IGNORE, DELETE IGNORE", "update ignore t set id = 2; delete ignore from t", 2, T),
        Example(
            "PARTITION (…) after a table",
            "update r partition (p0) set v = 2; delete from r partition (p1); insert into r partition (p1)"
            " values (12, 1)",
            3,
            RANGE,
        ),
        Example(
            "hints (no effect)",
            "insert /*+ inl_join(t) */ into u select /*+ hash_agg() */ straight_join * from t"
            " use index (primary)",
            before=TWO,
        ),
        Example(
            "LOW_PRIORITY, HIGH_PRIORITY, DELAYED, QUICK (no effect)",
            "insert high_priority into t values (2, 'b', 2); delete low_priority quick from t",
            2,
            T,
        ),
        Example(
            "DELETE … WHERE … ORDER BY … LIMIT",
            "delete from t where v like 'a%' order by n limit 1",
            before=T,
        ),
        Example(
            "UPDATE of several tables",
            "update t x join u as y on x.id = y.id set x.v = y.v, y.n = x.n + 1 where x.id < 5",
            before=TWO + "insert into u values (1, 'u', 1);",
        ),
        Example(
            "DELETE of several tables, FROM or USING",
            "delete t, u from t join u using (id); delete from x using t as x left join u on x.id = u.id",
            before=TWO + "insert into u values (1, 'u', 1); insert into t values (2, 'b', 2);",
            commits=2,
        ),
        Example(
            "BATCH [ON column] LIMIT n [DRY RUN]",
            "batch on id limit 2 update t set n = n + 1; batch limit 9 dry run delete from t",
            2,
            T + "insert into t values (2, 'b', 2), (3, 'c', 3);",
        ),
        Example(
            "WITH … UPDATE, WITH … DELETE",
            "with c (id) as (select 1) delete from t where id in (select id from c)",
            before=TWO,
        ),
    ),
    "queries": (
        Example(
            "[INNER] JOIN, CROSS JOIN, STRAIGHT_JOIN, comma",
            "insert into u select a.id * 100 + b.id, 'x', c.n from t a join t b on a.id = b.id cross join t"
            " c, t d straight_join t e on d.id = e.id",
            before=TWO,
        ),
        Example(
            "LEFT JOIN, RIGHT JOIN, USING, NATURAL",
            "insert into u select id, x.v, u.n from t x left join u using (id) right join t y using (id)"
            " where not exists (select 1 from t natural join u)",
            before=TWO,
        ),
        Example(
            "GROUP BY, HAVING, DISTINCT, aggregate functions",
            "insert into u select distinct n, group_concat(v order by v separator '-'), count(*) from t"
            " group by n having sum(id) > 0",
            before=TWO,
        ),
        Example(
            "GROUP BY … WITH ROLLUP, GROUPING(…)",
            "insert into u select grouping(v), v, sum(id) from t group by v with rollup",
            before=TWO,
        ),
        Example(
            "window functions, WINDOW",
            "insert into u select row_number() over w, max(v) over (w rows 1 preceding), sum(n) over w from t"
            " window w as (partition by n order by id)",
            before=TWO,
        ),
        Example(
            "UNION [ALL], INTERSECT, EXCEPT",
            "insert into u select id, v, n from t union all (select 8, 'x', 2 union select 9, 'y', 3)"
            " order by 1",
            before=TWO,
        ),
        Example(
            "WITH",
            "insert into u with c as (select id, v from t) select a.id, b.v, 1 from c a join c b using (id)",
            before=TWO,
        ),
        Example(
            "WITH RECURSIVE",
            "insert into u with recursive c as (select 1 n union all select n + 1 from c where n < 3)"
            " select n, 'x', n from c",
            before=TWO,
        ),
        Example(
            "derived tables",
            "insert into u select d.a, e.b, 1 from (select max(id) a from t) d, (select 1 a, 'x' b) e",
            before=TWO,
        ),
        Example(
            "subqueries: a value, IN, EXISTS, ANY, ALL",
            "delete from t where n = (select max(n) from t x) and id in (select id from t x) and exists"
            " (select 1 from t x where x.id = t.id) and id >= all (select id from t x)"
            " and id = any (select 1)",
            before=TWO,
        ),
    ),
    "transactions": (
        Example(
            "BEGIN [PESSIMISTIC | OPTIMISTIC] … COMMIT", "begin optimistic; delete from t; commit", before=T
        ),
        Example(
            "SAVEPOINT, ROLLBACK TO, RELEASE SAVEPOINT",
            "begin; savepoint a; delete from t; rollback to savepoint a; delete from t; release savepoint a;"
            " commit",
            before=T,
        ),
        Example(
            "START TRANSACTION [WITH CONSISTENT SNAPSHOT] … ROLLBACK",
            "start transaction with consistent snapshot; delete from t; rollback",
            0,
            T,
        ),
        Example("COMMIT AND CHAIN", "begin; delete from t; commit and chain; rollback", 1, T),
    ),
    "values of the session": (
        Example(
            "PREPARE, EXECUTE, DEALLOCATE PREPARE",
            "prepare p from 'update t set n = ? where id = ?'; set @n = 5, @id = 1; execute p using @n, @id;"
            " deallocate prepare p",
            before=T,
        ),
        Example(
            "user variables",
            "set @a = 1, @b := @a + 1; update t set n = (@a := @a + 1) where n < @b;"
            " select @a := max(n) from t",
            before=T,
        ),
        Example(
            "LAST_INSERT_ID(), ROW_COUNT()", "update t set n = last_insert_id(n + 1) + row_count()", before=T
        ),
    ),
    "skipped": (
        Example("SELECT", "select * from t join u using (id); (select 1) union (select 2)", 0),
        Example("TABLE, DO", "table t; do sleep(1)", 0),
        Example("SHOW", "show tables", 0),
        Example("DESC, DESCRIBE", "desc t; describe t", 0),
        Example("EXPLAIN", "explain delete from t", 0),
        Example("ANALYZE TABLE", "analyze table t", 0),
        Example("ADMIN", "admin check table t", 0),
        Example("SPLIT TABLE", "split table t between (0) and (1000) regions 4", 0),
        Example(
            "GRANT, REVOKE, and CREATE, ALTER, DROP, RENAME of USER, ROLE",
            "create user 'ann'@'%' identified by 'x'; grant all on *.* to ann; drop user ann",
            0,
        ),
        Example("SET PASSWORD, SET [DEFAULT] ROLE", "set password = 'x'; set default role all to ann", 0),
        Example("FLUSH", "flush privileges", 0),
        Example("LOCK TABLES, UNLOCK TABLES", "lock tables t write; unlock tables", 0),
        Example(
            "CREATE, ALTER, DROP of TRIGGER, PROCEDURE, FUNCTION, EVENT, which TiDB does not have",
            "create trigger g before insert on t for each row set new.v = 'x'; drop procedure if exists p",
            0,
        ),
        Example(
            "DELIMITER",
            "delimiter //\ncreate procedure p() begin delete from t; end//\ndelimiter ;",
            0,
        ),
    ),
}

ALTER_PARTS: dict[str, tuple[Example, ...]] = {
    "columns": (
        Example(
            "ADD [COLUMN] [IF NOT EXISTS] … [FIRST | AFTER]",
            "alter table t add column x int default 5 after id",
            before=T,
        ),
        Example("ADD COLUMN (…, …)", "alter table t add column (x int, y int)", before=T),
        Example("DROP [COLUMN] [IF EXISTS]", "alter table t drop column v", before=T),
        Example("MODIFY [COLUMN]", "alter table t modify n bigint not null first", before=T),
        Example("CHANGE [COLUMN]", "alter table t change n m varchar(20)", before=T),
        Example("RENAME COLUMN", "alter table t rename column n to m", before=T),
        Example(
            "ALTER [COLUMN] … SET DEFAULT | DROP DEFAULT", "alter table t alter n set default 7", before=T
        ),
    ),
    "keys": (
        Example("ADD [UNIQUE] INDEX [IF NOT EXISTS]", "alter table t add unique key k (v(3), n)", before=T),
        Example("ADD INDEX ((expression))", "alter table t add index k ((lower(v)))", before=T),
        Example(
            "ADD PRIMARY KEY",
            "alter table a add primary key (n)",
            before="create table a (n int not null unique);",
        ),
        Example(
            "DROP PRIMARY KEY",
            "alter table a drop primary key",
            before="create table a (n int primary key nonclustered, m int not null unique);",
        ),
        Example(
            "DROP INDEX [IF EXISTS]", "alter table t drop index k", before=T + "create index k on t (v);"
        ),
        Example("RENAME INDEX", "alter table t rename index k to j", before=T + "create index k on t (v);"),
        Example(
            "ALTER INDEX … VISIBLE | INVISIBLE",
            "alter table t alter index k invisible",
            before=T + "create index k on t (v);",
        ),
        Example(
            "ADD CONSTRAINT … FOREIGN KEY",
            "alter table u add constraint f foreign key (n) references t (id)",
            before=TWO,
        ),
        Example(
            "DROP FOREIGN KEY",
            "alter table u drop foreign key f",
            before=TWO + "alter table u add constraint f foreign key (n) references t (id);",
        ),
        Example(
            "ADD, ALTER and DROP CHECK (not enforced; also spelled CONSTRAINT)",
            "alter table t add check (n > 0); alter table t alter check c not enforced;"
            "alter table t drop constraint c",
            0,
            T,
        ),
    ),
    "the table": (
        Example("RENAME [TO]", "alter table t rename to x", before=T),
        Example("COMMENT", "alter table t comment = 'ours'", before=T),
        Example(
            "[DEFAULT] CHARSET, COLLATE",
            "alter table t default charset utf8mb4 collate utf8mb4_bin",
            before=T,
        ),
        Example(
            "CONVERT TO CHARACTER SET",
            "alter table t convert to character set utf8mb4 collate utf8mb4_general_ci",
            before=T,
        ),
        Example("AUTO_INCREMENT", "alter table t auto_increment = 100", before=T),
        Example("AUTO_ID_CACHE", "alter table t auto_id_cache = 100", before=T),
        Example(
            "TTL, REMOVE TTL",
            "alter table a remove ttl",
            before="create table a (id int primary key, d datetime) ttl = d + interval 1 day;",
        ),
        Example("CACHE, NOCACHE", "alter table t cache; alter table t nocache", 2, T),
        Example("SET TIFLASH REPLICA", "alter table t set tiflash replica 1", before=T),
        Example(
            "PLACEMENT POLICY", "alter table t placement policy = p", before=T + "create placement policy p;"
        ),
        Example(
            "ENGINE, ROW_FORMAT, ALGORITHM, LOCK, DISABLE KEYS, ENABLE KEYS, ORDER BY (no job)",
            "alter table t engine = innodb; alter table t disable keys; alter table t enable keys;"
            "alter table t order by n",
            0,
            T,
        ),
        Example(
            "several parts in one job",
            "alter table t add column x int, drop column v, add index (n)",
            before=T,
        ),
    ),
    "partitions": (
        Example(
            "ADD PARTITION",
            "alter table r add partition (partition p2 values less than maxvalue)",
            before=RANGE,
        ),
        Example(
            "ADD PARTITION to HASH and KEY",
            "alter table h add partition partitions 2; alter table h add partition (partition x)",
            2,
            "create table h (id int primary key) partition by hash (id) partitions 2;",
        ),
        Example(
            "COALESCE PARTITION",
            "alter table h coalesce partition 1",
            before="create table h (id int primary key) partition by hash (id) partitions 2;",
        ),
        Example("DROP PARTITION", "alter table r drop partition p0", before=RANGE),
        Example(
            "TRUNCATE PARTITION … | ALL",
            "alter table r truncate partition p0; alter table r truncate partition all",
            2,
            RANGE,
        ),
        Example(
            "REORGANIZE PARTITION … INTO",
            "alter table r reorganize partition p0, p1 into (partition p values less than (20))",
            before=RANGE,
        ),
        Example(
            "EXCHANGE PARTITION … WITH TABLE [WITHOUT VALIDATION]",
            "alter table r exchange partition p0 with table x without validation",
            before=RANGE + "create table x (id int primary key, v int);",
        ),
        Example(
            "FIRST PARTITION, LAST PARTITION (of equal distances)",
            "alter table e last partition less than (40); alter table e first partition less than (20)",
            2,
            "create table e (id int primary key) partition by range (id) interval (10) "
            "first partition less than (10) last partition less than (30);",
        ),
        Example("REMOVE PARTITIONING", "alter table r remove partitioning", before=RANGE),
        Example("PARTITION BY", "alter table t partition by hash (id) partitions 4", before=T),
        Example(
            "UPDATE INDEXES (… GLOBAL | LOCAL)",
            "alter table u partition by hash (id) partitions 2 update indexes (k global)",
            before="create table u (id int primary key, v int, unique key k (v));",
        ),
    ),
}

DEFINITIONS: dict[str, tuple[Example, ...]] = {
    "columns": (
        Example(
            "[NOT] NULL, DEFAULT constant, COMMENT", "create table x (a int not null default 5 comment 'c')"
        ),
        Example(
            "DEFAULT CURRENT_TIMESTAMP, ON UPDATE CURRENT_TIMESTAMP",
            "create table x (a timestamp(3) default current_timestamp(3) on update now(3))",
        ),
        Example("DEFAULT (function)", "create table x (a int, b json default (json_array(1, 2)))"),
        Example(
            "DEFAULT NEXTVAL(sequence), UUID(), RAND()",
            "create table x (a int default nextval(s), b char(36) default (uuid()))",
            before="create sequence s;",
        ),
        Example(
            "AS (expression) [VIRTUAL | STORED]",
            "create table x (a int, b int as (a + 1), c int generated always as (b * 2) stored)",
        ),
        Example("AUTO_INCREMENT", "create table x (a int auto_increment primary key) auto_increment = 10"),
        Example(
            "AUTO_RANDOM, SHARD_ROW_ID_BITS (shards from the seed of the scenario)",
            "create table x (a bigint auto_random(5) primary key); insert into x values (0)",
            2,
        ),
        Example(
            "CHARSET, COLLATE",
            "create table x (a varchar(9) character set gbk, b char(3) collate utf8mb4_general_ci)",
        ),
        Example(
            "PRIMARY KEY [CLUSTERED | NONCLUSTERED], UNIQUE",
            "create table x (a int primary key nonclustered, b int unique)",
        ),
        Example("CHECK (not enforced)", "create table x (a int check (a > 0))"),
        Example("REFERENCES of a column (ignored, as in TiDB)", "create table x (a int references t (id))"),
    ),
    "keys": (
        Example(
            "PRIMARY KEY, UNIQUE, KEY, INDEX",
            "create table x (a int, b text, primary key (a), unique key u (b(9)), index (a, b(3)))",
        ),
        Example(
            "expression indexes", "create table x (a int primary key, b varchar(9), index k ((upper(b))))"
        ),
        Example(
            "GLOBAL",
            "create table x (a int primary key, b int, unique key (b) global) partition by hash (a)",
        ),
        Example(
            "FULLTEXT KEY (not created, as in TiDB)",
            "create table x (a int primary key, b text, fulltext key w (b) with parser ngram)",
        ),
        Example(
            "FOREIGN KEY … REFERENCES",
            "create table x (a int primary key, b int, foreign key (b) references t (id) on delete cascade)",
            before=T,
        ),
    ),
    "partitions": (
        Example("RANGE (expression)", RANGE, 2),
        Example(
            "RANGE COLUMNS",
            "create table x (a int, b date) partition by range columns (a, b) (partition p values less "
            "than (5, '2020-01-01'), partition q values less than (maxvalue, maxvalue))",
        ),
        Example(
            "LIST (expression)",
            "create table x (a int) partition by list (a % 10) (partition p values in (1, 2), partition "
            "q default)",
        ),
        Example(
            "LIST COLUMNS",
            "create table x (a varchar(9)) partition by list columns (a) (partition p values in ('a', "
            "null), partition q values in (default))",
        ),
        Example("HASH (expression)", "create table x (a datetime) partition by hash (year(a)) partitions 4"),
        Example("KEY (columns)", "create table x (a varchar(9)) partition by key (a) partitions 4"),
        Example(
            "KEY () of the primary key", "create table x (a int primary key) partition by key () partitions 4"
        ),
        Example(
            "SUBPARTITION (ignored, as in TiDB)",
            "create table x (a int, b int) partition by range (a) subpartition by hash (b) "
            "(partition p values less than (5))",
        ),
        Example(
            "RANGE … INTERVAL",
            "create table x (a date) partition by range columns (a) interval (1 month) first partition less "
            "than ('2024-01-01') last partition less than ('2024-06-01') maxvalue partition",
        ),
        Example(
            "LINEAR (ignored, as in TiDB)",
            "create table x (a int) partition by linear hash (a) partitions 2",
        ),
    ),
}

EXPRESSIONS = {
    "+ - * / DIV % MOD, unary minus": "-1 + 2 - 3 * 4 / 5 + 7 div 2 + 7 % 2 + 7 mod 2",
    "& | ^ << >> ~": "~(5 & 3 | 4 ^ 1) << 2 >> 1",
    "= <> != < <= > >= <=>": "1 = 1 and 1 <> 2 and 1 != 2 and 1 < 2 and 1 <= 2 and 2 > 1 and 2 >= 1 and "
    "null <=> null",
    "AND OR XOR NOT": "not (true and false or true xor false)",
    "IS [NOT] NULL, TRUE, FALSE": "null is null and 1 is true and 0 is not true",
    "[NOT] IN (…), BETWEEN": "1 in (1, 2) and 1 not in (3) and 2 between 1 and 3",
    "[NOT] LIKE … [ESCAPE]": "'a%' like 'a|%' escape '|' and 'b' not like 'a'",
    "CASE": "case 1 when 1 then 'a' else 'b' end",
    "IF": "if(1, 'a', 'b')",
    "CAST, CONVERT": "cast('1.5' as decimal(5,2)) + convert('1', signed)",
    "COLLATE": "'a' collate utf8mb4_general_ci = 'A'",
    "d + INTERVAL n unit": "'2020-01-31' + interval 1 month",
    "-> and ->>, as in JSON_EXTRACT": "json_unquote(json_extract('{\"a\": 1}', '$.a'))",
    "numbers, strings, NULL, TRUE, FALSE": "concat(1, 1.5, 1e3, 'a' 'b', null, true, false)",
    "x'…', b'…', 0x…, 0b…": "concat(x'41', 0x42, b'1000001', 0b1000001)",
    "_utf8mb4'…' and other introducers, N'…'": "concat(_utf8mb4'a', _binary'b', n'c')",
    "DATE'…', TIME'…', TIMESTAMP'…'": "date'2020-01-01' < timestamp'2020-01-02 00:00:00' and "
    "time'10:00:00' is not null",
}
"""An example of each operator and kind of literal."""

SYNONYMS = (
    Example("", "create schema x; alter schema x collate utf8mb4_bin; drop schema x", 3),
    Example("", "rename tables t to x; drop tables x", 2, T),
    Example("", "create algorithm = merge view w as select 1"),
    Example("", "create definer = 'a'@'b' view w as select 1"),
    Example("", "create sql security invoker view w as select 1"),
    Example("", "create view w as select 1"),
    Example("", "create index k on t (v); alter table t rename key k to j; alter table t drop key j", 3, T),
    Example(
        "", "alter table t drop v; alter table t change n m int; alter table t alter m drop default", 3, T
    ),
    Example("", "alter table t modify column n bigint; alter table t alter column n set default 1", 2, T),
    Example("", "alter table t change column n m int; alter table t rename as x", 2, T),
    Example("", "alter table t charset utf8mb4; alter table t character set = utf8mb4", 2, T),
    Example(
        "", "alter table t default character set utf8mb4; alter table t default collate utf8mb4_bin", 2, T
    ),
    Example("", "alter table t collate utf8mb4_bin; alter table t convert to charset utf8mb4", 2, T),
    Example(
        "", "alter table d ttl = d + interval 1 day ttl_enable = 'OFF'", 1, "create table d (d datetime);"
    ),
    Example(
        "",
        "alter table d ttl_enable = 'ON'; alter table d ttl_job_interval = '1h'",
        2,
        "create table d (d date) ttl = d + interval 1 day;",
    ),
    Example("", "alter table t nocache", 0, T),
    Example("", "describe t; replace t set id = 1", 1, T),
    Example("", "alter ignore table t drop v", 1, T),
    Example("", "alter table t auto_random_base = 5", 1, T),
    Example("", "alter table t stats_options = default", 1, T),
    Example("", "alter table t attributes = 'x', algorithm = instant, lock = none", 1, T),
    Example("", "alter table t disable keys; alter table t enable keys", 0, T),
)
"""Synonyms, which the page does not list."""

VARIABLES = {
    "time_zone": "set time_zone = '+08:00'",
    "sql_mode": "set session sql_mode = concat(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')",
    "timestamp": "set @@timestamp = 1600000000.5",
    "foreign_key_checks": "set foreign_key_checks = 0",
    "tidb_skip_utf8_check": "set tidb_skip_utf8_check = on",
    "autocommit": "set autocommit = 0",
    "block_encryption_mode": "set block_encryption_mode = 'aes-256-cbc'",
    "group_concat_max_len": "set group_concat_max_len = 4096",
    "auto_increment_increment": "set auto_increment_increment = 2",
    "auto_increment_offset": "set auto_increment_offset = 2",
    "tidb_translate_softdelete_sql": "set tidb_translate_softdelete_sql = off",
    "cte_max_recursion_depth": "set cte_max_recursion_depth = 10",
    "tidb_allow_remove_auto_inc": "set tidb_allow_remove_auto_inc = on",
}
