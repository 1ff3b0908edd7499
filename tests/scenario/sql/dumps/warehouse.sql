drop database if exists warehouse;
create database warehouse character set utf8mb4 collate utf8mb4_general_ci;
use warehouse;
create table every_type (
  id int unsigned not null auto_increment primary key,
  c_tinyint tinyint, c_tinyint_u tinyint(3) unsigned default 7, c_bool boolean default true, c_smallint smallint,
  c_mediumint mediumint(9), c_int int(10) unsigned zerofill, c_bigint bigint, c_bigint_u bigint unsigned,
  c_float float, c_double double, c_decimal decimal(30,10) default 0.5, c_bit bit(10) default b'101',
  c_char char(5) default 'a b', c_varchar varchar(100) not null default 'it''s', c_binary binary(4), c_varbinary varbinary(20),
  c_tinytext tinytext, c_text text, c_mediumtext mediumtext, c_longtext longtext,
  c_tinyblob tinyblob, c_blob blob, c_mediumblob mediumblob, c_longblob longblob,
  c_date date default '2020-02-29', c_time time(3), c_datetime datetime(6) default current_timestamp(6) on update current_timestamp(6),
  c_timestamp timestamp not null default current_timestamp() on update current_timestamp(), c_year year,
  c_enum enum('red','it''s','blau,grün') default 'red', c_set set('x','y','z'), c_json json,

  unique key u_varchar (c_varchar), key k_text (c_text(20)), key k_both (c_date, c_enum), fulltext key words (c_text),
  constraint positive check (c_smallint > -1000)
) engine=InnoDB comment='one column of each type; with a ''quote''';
insert into every_type (c_tinyint, c_bool, c_smallint, c_mediumint, c_int, c_bigint, c_bigint_u, c_float, c_double, c_decimal, c_bit,
  c_char, c_varchar, c_binary, c_varbinary, c_tinytext, c_text, c_mediumtext, c_longtext, c_tinyblob, c_blob, c_mediumblob, c_longblob,
  c_date, c_time, c_datetime, c_timestamp, c_year, c_enum, c_set, c_json) values
 (-128, 0, -5, 8388607, 42, -9223372036854775808, 18446744073709551615, 1.5, 2.2250738585072014e-308, 12345678901234567890.0123456789, b'1111100000',
  'ab', 'quote '' and "double" and \\ back', 0x00ff1a00, 0x0001020a0d1a22275cff, 'tab	', 'line one\nline two\r\n; -- not a comment\nDELIMITER //', '/* not one */ # neither', 'grün 日本 🦀',
  0xff, 0x00270022005c000d0a1a, 'text in a blob; \'', repeat(0xfe, 30),
  '1000-01-01', '-838:59:59.000', '9999-12-31 23:59:59.999999', '2038-01-19 03:14:07', 2155, 'blau,grün', 'x,z', '{"a": [1, "b\\"c", null]}'),
 (null, null, null, null, null, null, null, null, null, null, null, null, 'second', null, null, null, null, null, null, null, null, null, null,
  null, null, null, '1970-01-01 00:00:01', null, null, null, null);
insert into every_type (c_varchar, c_timestamp, c_datetime) values ('third; row', '2021-06-15 12:00:00', '2021-06-15 12:00:00.5');
create table zero_ids (id int not null auto_increment primary key, v varchar(10));
set sql_mode = 'NO_AUTO_VALUE_ON_ZERO'; insert into zero_ids values (0, 'zero'), (5, 'five'); set sql_mode = default;
create table no_key (a int, b varchar(20), key (a)); insert into no_key values (1, 'x'), (1, 'x'), (null, null);
create table parents (id bigint primary key, name varchar(30) unique);
create table children (id int primary key, parent_id bigint, constraint fk_parent foreign key (parent_id) references parents (id) on delete cascade on update set null);
insert into parents values (1, 'one'), (2, 'two'); insert into children values (10, 1), (11, 2), (12, null);
create table sold (id int not null, day date not null, amount decimal(8,2), primary key (id, day)) partition by range columns (day) (partition y2020 values less than ('2021-01-01'), partition later values less than (maxvalue));
insert into sold values (1, '2020-03-01', 10.50), (2, '2022-03-01', 7);
create table hashed (id int primary key, t text) partition by hash (id) partitions 3; insert into hashed values (1, 'a'), (2, 'b'), (3, 'c');
create table `odd name` (`select` int primary key, `a``b` varchar(5) default '%') ; insert into `odd name` values (1, 'x');
create table empty_table (id int primary key);
create view names as select p.name, c.id as child from parents p left join children c on c.parent_id = p.id;
create algorithm=merge sql security invoker view dear (nr, price) as select id, amount from sold where amount > 8 with cascaded check option;
delimiter //
create trigger stamp before insert on parents for each row begin set new.name = concat(new.name, ';'); end//
create procedure count_rows (out n int) begin select count(*) into n from parents; end//
create function twice (n int) returns int deterministic return n * 2//
create event nightly on schedule every 1 day do begin delete from no_key where a is null; delete from no_key where b = ''; end//
delimiter ;
