"""Keys, options and statements as printed by ``print_ddl``; the expected texts are those of TiDB's parser."""

from __future__ import annotations

import pytest

from ticdc_producer.scenario.sql.restore import print_ddl


@pytest.mark.parametrize(("typed", "printed"), [
    ("primary key x (a) comment 'a\\\\b'", "PRIMARY KEY `x`(`a`) COMMENT 'a\\b'"),
    ("primary key (a) clustered", "PRIMARY KEY(`a`) /*T![clustered_index] CLUSTERED */"),
    ("key (a desc, b(3) asc)", "INDEX(`a` DESC, `b`(3))"),
    (
        "index k using hash (a) invisible key_block_size=4",
        "INDEX `k`(`a`) KEY_BLOCK_SIZE=4 USING HASH INVISIBLE",
    ),
    ("constraint c unique index d (a)", "UNIQUE `c`(`a`)"),
    ("constraint unique e (a)", "UNIQUE `e`(`a`)"),
    ("key k ((lower(b)) desc, a)", "INDEX `k`((LOWER(`b`)) DESC, `a`)"),
    ("unique g (a) global", "UNIQUE `g`(`a`) /*T![global_index] GLOBAL */"),
    ("foreign key f (a) references p", "CONSTRAINT `f` FOREIGN KEY (`a`) REFERENCES `p`"),
    (
        ("constraint c foreign key f (a, b) references d.p (x, y) match full on update cascade on "
        "delete no action"),
        ("CONSTRAINT `c` FOREIGN KEY (`a`, `b`) REFERENCES `d`.`p`(`x`, `y`) MATCH FULL ON DELETE "
        "NO ACTION ON UPDATE CASCADE"),
    ),
    ("foreign key (a) references p (x)", "CONSTRAINT FOREIGN KEY (`a`) REFERENCES `p`(`x`)"),
    ("check (a > 1)", "CHECK(`a`>1) ENFORCED"),
    ("constraint c check (a > b) not enforced", "CONSTRAINT `c` CHECK(`a`>`b`) NOT ENFORCED"),
    ("index if not exists i (a)", "INDEX/*T!  IF NOT EXISTS */ `i`(`a`)"),
    ("key i (a) comment ''", "INDEX `i`(`a`)"),
])  # fmt: skip
def test_keys(typed: str, printed: str) -> None:
    assert print_ddl(f"create table t (a int, {typed})") == f"CREATE TABLE `t` (`a` INT,{printed})"


@pytest.mark.parametrize(("typed", "printed"), [
    (
        "engine innodb, comment 'a\\\\b' charset=utf8",
        " ENGINE = innodb COMMENT = 'a\\b' DEFAULT CHARACTER SET = UTF8",
    ),
    ("collate utf8mb4_bin auto_increment 5", " DEFAULT COLLATE = UTF8MB4_BIN AUTO_INCREMENT = 5"),
    (
        "auto_id_cache 5 shard_row_id_bits=4 pre_split_regions 2",
        (" /*T![auto_id_cache] AUTO_ID_CACHE = 5 */ /*T! SHARD_ROW_ID_BITS = 4 */ /*T! "
        "PRE_SPLIT_REGIONS = 2 */"),
    ),
    ("force auto_increment=6", " /*T![force_inc] FORCE  */AUTO_INCREMENT = 6"),
    (
        "row_format=dynamic stats_persistent=1",
        " ROW_FORMAT = DYNAMIC STATS_PERSISTENT = DEFAULT /* TableOptionStatsPersistent is not supported */ ",
    ),
    (
        "ttl = a + interval 1 day ttl_enable = 'ON' ttl_job_interval '1h'",
        (" /*T![ttl] TTL = `a` + INTERVAL 1 DAY */ /*T![ttl] TTL_ENABLE = 'OFF' */ /*T![ttl] "
        "TTL_JOB_INTERVAL = '1h' */"),
    ),
    ("ttl_enable = 'OFF' comment ''", " COMMENT = ''"),
    ("comment 'a' placement policy p comment 'b'", " COMMENT = 'a'  COMMENT = 'b'"),
    ("placement policy = p", " "),
    (
        "union = (a, b.c) data directory 'x' tablespace y",
        " UNION = (`a`,`b`.`c`) DATA DIRECTORY = 'x' TABLESPACE = `y`",
    ),
    (
        "stats_sample_rate=0.5 stats_buckets 3 secondary_engine=null",
        " STATS_SAMPLE_RATE = 0.5 STATS_BUCKETS = 3 SECONDARY_ENGINE = NULL",
    ),
])  # fmt: skip
def test_table_options(typed: str, printed: str) -> None:
    """TiDB prints a placement as the space before it."""
    assert print_ddl(f"create table t (a int) {typed}") == f"CREATE TABLE `t` (`a` INT){printed}"


@pytest.mark.parametrize(("typed", "printed"), [
    ("create table if not exists t (like d.b)", "CREATE TABLE IF NOT EXISTS `t` LIKE `d`.`b`"),
    ("create table t (key (a), a int)", "CREATE TABLE `t` (`a` INT,INDEX(`a`))"),
    (
        ("create unique index if not exists i using btree on d.t (a desc) comment 'x' lock none "
        "algorithm inplace"),
        ("CREATE UNIQUE INDEX /*T! IF NOT EXISTS  */`i` ON `d`.`t` (`a` DESC) USING BTREE COMMENT "
        "'x' ALGORITHM = INPLACE LOCK = NONE"),
    ),
    ("create index i on t (a(3)) algorithm = default", "CREATE INDEX `i` ON `t` (`a`(3))"),
    ("drop index if exists i on t lock=none", "DROP INDEX /*T! IF EXISTS  */`i` ON `t` LOCK = NONE"),
    ("truncate d.t", "TRUNCATE TABLE `d`.`t`"),
    ("drop table if exists a, d.b cascade", "DROP TABLE IF EXISTS `a`, `d`.`b`"),
    ("drop view if exists v restrict", "DROP VIEW IF EXISTS `v`"),
    ("rename table a to b, d.c to e.f", "RENAME TABLE `a` TO `b`, `d`.`c` TO `e`.`f`"),
    ("recover table by job 5", "RECOVER TABLE BY JOB 5"),
    ("flashback table t to u", "FLASHBACK TABLE `t` TO `u`"),
    (
        "create schema if not exists `a b` default charset UTF8MB3 collate = utf8_bin encryption 'y'",
        "CREATE DATABASE IF NOT EXISTS `a b` CHARACTER SET = utf8 COLLATE = utf8_bin ENCRYPTION = 'y'",
    ),
    ("create database d placement policy p charset utf8", "CREATE DATABASE `d`  CHARACTER SET = utf8"),
    ("alter database d collate utf8mb4_bin", "ALTER DATABASE `d` COLLATE = utf8mb4_bin"),
    ("alter schema default charset utf8", "ALTER DATABASE CHARACTER SET = utf8"),
    ("drop schema if exists d", "DROP DATABASE IF EXISTS `d`"),
    ("/* mine */ create table t (a int) -- end", "CREATE TABLE `t` (`a` INT)"),
])  # fmt: skip
def test_statements(typed: str, printed: str) -> None:
    assert print_ddl(typed) == printed
