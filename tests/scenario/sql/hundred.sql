-- A hundred statements of the kinds that MySQL's manual has in its chapters on data manipulation, data definition and
-- transactions, and that the scripts of public sample databases have; the names and texts are ours.
--
-- Each heading has a number, the number of row changes (- if it does not matter) and a subject. Each entry runs on
-- its own, after the statements of entry 000.

-- 000 - schema and rows
create table categories (id int primary key, name varchar(30) not null, parent_id int);
insert into categories values (1, 'Books', null), (2, 'Maps', 1), (3, 'Games', null);
create table customers (
  id int unsigned not null auto_increment primary key, name varchar(60) not null, city varchar(40),
  email varchar(80) unique, credit decimal(10,2) not null default 0, joined date,
  updated timestamp null default null on update current_timestamp
);
insert into customers (id, name, city, email, credit, joined) values
  (1, 'Ada', 'Oslo', 'ada@example.com', 100, '2019-05-01'), (2, 'Bo', 'Rome', 'bo@example.com', 50, '2020-01-15'),
  (3, 'Cleo', 'Oslo', 'cleo@example.com', 0, '2020-07-30'), (4, 'Dan', null, null, 10, null);
create table products (
  id int primary key, title varchar(60) not null, category_id int, price decimal(8,2) not null, stock int not null,
  attrs json, key by_category (category_id)
);
insert into products values
  (1, 'Atlas', 2, 30, 5, '{"pages": 200}'), (2, 'Novel', 1, 12.5, 20, null), (3, 'Chess', 3, 25, 0, '{"players": 2}'),
  (4, 'Globe', 2, 60, 2, null), (5, 'Dice', 3, 3, 100, null);
create table orders (
  id int not null auto_increment primary key, customer_id int unsigned not null, placed datetime not null,
  status enum('new', 'paid', 'sent', 'void') not null default 'new',
  constraint orders_customer foreign key (customer_id) references customers (id)
);
insert into orders values
  (1, 1, '2021-03-01 09:00:00', 'paid'), (2, 2, '2021-03-02 10:30:00', 'new'),
  (3, 1, '2021-03-05 12:00:00', 'new'), (4, 3, '2021-03-09 18:45:00', 'void');
create table order_lines (
  order_id int not null, line_no int not null, product_id int not null, qty int not null, price decimal(8,2) not null,
  primary key (order_id, line_no),
  constraint line_order foreign key (order_id) references orders (id) on delete cascade
);
insert into order_lines values (1, 1, 1, 1, 30), (1, 2, 2, 2, 12.5), (2, 1, 3, 1, 25), (3, 1, 5, 10, 3);
create table orders_archive (id int primary key, customer_id int, placed datetime, status varchar(10));
create table totals (customer_id int primary key, orders int not null, amount decimal(12,2) not null);
create table counters (name varchar(20) primary key, hits int not null);
insert into counters values ('home', 10), ('about', 2);
create table staging (id int primary key, name varchar(60), city varchar(40));
insert into staging values (2, 'Bo', 'Paris'), (9, 'Zoe', 'Rome');
create table departments (dept_no char(4) primary key, name varchar(40) not null unique);
insert into departments values ('d001', 'Sales'), ('d002', 'Support'), ('d003', 'Empty');
create table employees (
  emp_no int primary key, name varchar(40) not null, hired date not null, dept_no char(4), salary int not null,
  manager_no int
);
insert into employees values
  (1, 'Grace', '1990-02-01', 'd001', 9000, null), (2, 'Hans', '1999-06-15', 'd001', 5000, 1),
  (3, 'Ines', '2001-11-01', 'd002', 7000, 1), (4, 'Joe', '2010-04-20', 'd002', 4000, 3);
create table countries (code char(3) primary key, name varchar(52), continent varchar(20), population int);
insert into countries values
  ('NOR', 'Norway', 'Europe', 5400000), ('ITA', 'Italy', 'Europe', 59000000), ('PER', 'Peru', 'South America', 33000000);
create table cities (id int primary key, name varchar(35), country_code char(3), population int);
insert into cities values
  (1, 'Oslo', 'NOR', 700000), (2, 'Rome', 'ITA', 2800000), (3, 'Lima', 'PER', 9700000), (4, 'Milan', 'ITA', 1400000);
create table languages (
  country_code char(3), language varchar(30), official enum('T', 'F') default 'F', percentage decimal(4,1),
  primary key (country_code, language)
);
insert into languages values
  ('NOR', 'Norwegian', 'T', 90), ('ITA', 'Italian', 'T', 95), ('ITA', 'German', 'F', 0.5),
  ('PER', 'Spanish', 'T', 84), ('PER', 'Quechua', 'T', 13);
create table films (
  id int primary key, title varchar(80) not null, year year, rating enum('G', 'PG', 'R') default 'G',
  features set('trailers', 'comments', 'deleted scenes'), description text
);
insert into films values
  (1, 'Night Train', 1999, 'PG', 'trailers', 'two friends'), (2, 'Day Boat', 2003, 'R', '', null),
  (3, 'Last Bus', 2003, 'G', 'trailers,comments', 'a driver');
create table actors (id int primary key, first_name varchar(45), last_name varchar(45), key by_name (last_name));
insert into actors values (1, 'Mia', 'Stone'), (2, 'Lev', 'Wolf'), (3, 'Nia', 'Stone');
create table film_actors (film_id int, actor_id int, primary key (film_id, actor_id));
insert into film_actors values (1, 1), (1, 2), (2, 1), (3, 3);

-- 001 3 INSERT of several rows, with DEFAULT and an expression of earlier columns
insert into customers (name, city, credit) values ('Eve', 'Bonn', 5), ('Fay', default, 2 * 3), ('Gil', upper('riga'), default);
-- 002 1 INSERT without a column list
insert into categories values (4, 'Cards', 3);
-- 003 1 INSERT of an empty row
create table visits (id int auto_increment primary key, seen timestamp default current_timestamp); insert into visits () values ();
-- 004 1 INSERT SET
insert into counters set name = 'shop', hits = 7 - 2;
-- 005 1 INSERT IGNORE passes over a duplicate key
insert ignore into counters values ('home', 1), ('new', 1);
-- 006 2 ON DUPLICATE KEY UPDATE with VALUES()
insert into counters values ('home', 1), ('cart', 1) on duplicate key update hits = hits + values(hits);
-- 007 2 ON DUPLICATE KEY UPDATE with a row alias
insert into counters values ('home', 5), ('cart', 1) as fresh on duplicate key update hits = counters.hits + fresh.hits;
-- 008 1 ON DUPLICATE KEY UPDATE with aliases of the columns
insert into counters values ('about', 3) as fresh (n, h) on duplicate key update hits = h * 2;
-- 009 1 INSERT SELECT of one table
insert into orders_archive select id, customer_id, placed, status from orders where status = 'void';
-- 010 2 INSERT SELECT with a join and GROUP BY
insert into totals select o.customer_id, count(*), sum(l.qty * l.price) from orders o join order_lines l on l.order_id = o.id group by o.customer_id;
-- 011 3 INSERT SELECT DISTINCT
insert into totals select distinct customer_id, 0, 0 from orders;
-- 012 1 INSERT SELECT with GROUP BY and HAVING
insert into totals select customer_id, count(*), 0 from orders group by customer_id having count(*) > 1;
-- 013 2 INSERT SELECT with ORDER BY and LIMIT
insert into orders_archive select id, customer_id, placed, status from orders order by placed desc limit 2;
-- 014 2 INSERT SELECT ON DUPLICATE KEY UPDATE
insert into counters select 'home', count(*) from films union all select 'films', count(*) from films on duplicate key update hits = hits + values(hits);
-- 015 2 INSERT of a UNION
insert into categories select 10, name, null from departments where dept_no = 'd001' union select 11, name, null from departments where dept_no = 'd002';
-- 016 1 INSERT with a scalar subquery among its values
insert into totals values (9, (select count(*) from orders), (select max(price) from products));
-- 017 2 INSERT TABLE
create table counters_copy (name varchar(20) primary key, hits int); insert into counters_copy table counters;
-- 018 2 INSERT VALUES ROW
insert into counters values row('a', 1), row('b', 2);
-- 019 2 INSERT LOW_PRIORITY and HIGH_PRIORITY
insert low_priority into counters values ('low', 1); insert high_priority into counters values ('high', 1);
-- 020 2 INSERT SELECT from a common table expression
insert into totals with big as (select customer_id, count(*) as n from orders group by customer_id) select customer_id, n, 0 from big where customer_id < 3;
-- 021 3 REPLACE
replace into counters values ('home', 99), ('blog', 1);
-- 022 1 REPLACE SET
replace into counters set name = 'blog', hits = 1;
-- 023 3 REPLACE SELECT
replace into staging select id, name, city from customers where id in (1, 2);
-- 024 2 REPLACE with a second unique key
replace into departments values ('d009', 'Empty');
-- 025 2 UPDATE of some rows with an expression
update products set price = round(price * 1.1, 2), stock = stock - 1 where category_id = 2;
-- 026 5 UPDATE of all rows
update products set stock = stock + 1;
-- 027 2 UPDATE with ORDER BY and LIMIT
update employees set salary = salary + 500 order by salary limit 2;
-- 028 3 UPDATE that moves keys upward, ordered so that none collides
update categories set id = id + 1 order by id desc;
-- 029 4 UPDATE with CASE
update employees set salary = case dept_no when 'd001' then salary + 100 when 'd002' then salary + 200 else salary end;
-- 030 2 UPDATE of two tables by a join
update products p join categories c on c.id = p.category_id set p.price = p.price + 1 where c.name = 'Maps';
-- 031 2 UPDATE with a left join: only rows without a partner
update customers c left join orders o on o.customer_id = c.id set c.credit = c.credit + 1, c.city = coalesce(c.city, 'none') where o.id is null or c.id = 2;
-- 032 3 UPDATE that changes both tables
update orders o, order_lines l set o.status = 'sent', l.price = l.price + 1 where o.id = l.order_id and o.status = 'paid';
-- 033 1 UPDATE with a subquery as its value
update totals set amount = 1; update counters set hits = (select count(*) from products) where name = 'home';
-- 034 2 UPDATE with a correlated subquery
update departments d set d.name = concat(d.name, ' ', (select count(*) from employees e where e.dept_no = d.dept_no)) where exists (select 1 from employees e where e.dept_no = d.dept_no);
-- 035 2 UPDATE WHERE IN (subquery)
update products set stock = 0 where id in (select product_id from order_lines where order_id = 1);
-- 036 1 UPDATE with a derived table
update customers c join (select customer_id, count(*) as n from orders group by customer_id having n > 1) busy on busy.customer_id = c.id set c.credit = c.credit + 10 * busy.n;
-- 037 2 UPDATE with a comparison to ALL
update employees set salary = salary + 1 where salary >= all (select salary from employees where dept_no = 'd002');
-- 038 1 UPDATE IGNORE
update ignore counters set name = 'home', hits = hits + 1 where name in ('home', 'about');
-- 039 1 UPDATE of a JSON document
update products set attrs = json_set(attrs, '$.pages', json_extract(attrs, '$.pages') + 50, '$.atlas', true) where json_extract(attrs, '$.pages') > 100;
-- 040 1 UPDATE of ENUM and SET
update films set rating = 'R', features = concat_ws(',', features, 'deleted scenes') where find_in_set('comments', features);
-- 041 2 UPDATE with LIKE, BETWEEN and NOT IN
update actors set first_name = lower(first_name) where last_name like 'St%' and id between 1 and 3 and id not in (2);
-- 042 3 UPDATE with an alias and a date function
update employees as e set e.hired = date_add(e.hired, interval 1 year) where year(e.hired) < 2005;
-- 043 2 DELETE of some rows
delete from languages where official = 'F' or percentage < 20;
-- 044 2 DELETE with ORDER BY and LIMIT
delete from film_actors order by film_id desc, actor_id limit 2;
-- 045 3 DELETE of two tables by a join
delete f, a from films f join film_actors a on a.film_id = f.id where f.title = 'Night Train';
-- 046 1 DELETE USING
delete from c using cities as c join countries as n on n.code = c.country_code where n.name = 'Peru';
-- 047 2 DELETE with a left join: rows without a partner
delete p from products p left join order_lines l on l.product_id = p.id where l.product_id is null or p.title = 'Dice';
-- 048 1 DELETE WHERE NOT EXISTS
delete from departments where not exists (select * from employees where employees.dept_no = departments.dept_no);
-- 049 2 DELETE with a row comparison in a subquery
delete from film_actors where (film_id, actor_id) in (select f.id, a.id from films f, actors a where a.last_name = 'Stone' and f.year = 2003);
-- 050 3 DELETE that cascades to child rows
delete from orders where id = 1;
-- 051 1 DELETE with an alias
delete from cities as c where c.name = 'Oslo';
-- 052 1 DELETE QUICK and LOW_PRIORITY
delete low_priority quick from counters where name = 'about';
-- 053 1 DELETE from a common table expression's rows
with poor as (select emp_no from employees where salary < 4500) delete from employees where emp_no in (select emp_no from poor);
-- 054 1 UPDATE with a common table expression
with recent as (select max(placed) as latest from orders) update orders join recent on orders.placed = recent.latest set status = 'sent';
-- 055 5 TRUNCATE of a table with rows, which deletes none of them one by one
truncate table film_actors; insert into film_actors values (1, 1), (1, 2), (2, 1), (3, 3), (2, 3);
-- 056 2 transaction with COMMIT
start transaction; update customers set credit = credit - 20 where id = 1; update customers set credit = credit + 20 where id = 2; commit;
-- 057 0 transaction with ROLLBACK
begin; delete from order_lines; update customers set credit = 0; rollback;
-- 058 2 SAVEPOINT and ROLLBACK TO SAVEPOINT
start transaction; insert into counters values ('a', 1); savepoint first; insert into counters values ('b', 1); rollback to savepoint first; insert into counters values ('c', 1); commit;
-- 059 2 RELEASE SAVEPOINT
begin; insert into counters values ('a', 1); savepoint s; insert into counters values ('b', 1); release savepoint s; commit;
-- 060 2 autocommit off
set autocommit = 0; insert into counters values ('a', 1); insert into counters values ('b', 1); commit; set autocommit = 1;
-- 061 2 COMMIT AND CHAIN
begin; insert into counters values ('a', 1); commit and chain; insert into counters values ('b', 1); commit;
-- 062 1 START TRANSACTION WITH CONSISTENT SNAPSHOT
start transaction with consistent snapshot; update counters set hits = hits + 1 where name = 'home'; commit;
-- 063 1 SELECT FOR UPDATE in a transaction
begin; select hits from counters where name = 'home' for update; update counters set hits = hits + 1 where name = 'home'; commit;
-- 064 1 SET TRANSACTION ISOLATION LEVEL
set session transaction isolation level read committed; begin; delete from counters where name = 'home'; commit;
-- 065 2 DDL that commits an open transaction
begin; insert into counters values ('a', 1); insert into counters values ('b', 1); create table later (id int primary key); rollback;
-- 066 1 LOCK TABLES
lock tables counters write, customers read; update counters set hits = 0 where name = 'home'; unlock tables;
-- 067 2 LAST_INSERT_ID() of a parent row in its child
insert into orders (customer_id, placed) values (2, '2021-04-01'); insert into order_lines values (last_insert_id(), 1, 1, 1, 30);
-- 068 2 user variables
set @raise = 250, @low := 4000; update employees set salary = salary + @raise where salary >= @low and salary < @low + 2000;
-- 069 1 user variable from SELECT INTO
select max(id) into @newest from orders; update orders set status = 'sent' where id = @newest;
-- 070 2 ROW_COUNT() of the statement before
update products set stock = stock + 1 where id = 1; insert into counters values ('changed', row_count());
-- 071 - CREATE DATABASE with options
create database if not exists museum default character set utf8mb4 collate utf8mb4_general_ci;
-- 072 1 CREATE TABLE with all kinds of keys
create table parts (id bigint unsigned auto_increment, code varchar(20) not null, name varchar(100), notes text, primary key (id), unique key code_u (code), key by_name (name(10)), index by_both (code, name)) engine = InnoDB default charset = utf8mb4 auto_increment = 100 comment = 'spare parts'; insert into parts (code) values ('x');
-- 073 1 CREATE TABLE with generated columns
create table boxes (w int not null, h int not null, area int as (w * h) stored, label varchar(20) as (concat(w, 'x', h)) virtual, primary key (w, h)); insert into boxes (w, h) values (2, 3);
-- 074 1 CREATE TABLE with CHECK
create table ages (id int primary key, age int check (age >= 0), constraint sane check (age < 200)); insert into ages values (1, 30);
-- 075 - CREATE TABLE LIKE
create table counters_new like counters;
-- 076 2 CREATE TABLE of a SELECT
create table oslo as select id, name from customers where city = 'Oslo';
-- 077 1 CREATE TEMPORARY TABLE
create temporary table scratch (id int primary key); insert into scratch values (1); insert into counters values ('x', 1);
-- 078 2 CREATE TABLE with RANGE partitions
create table sales (id int, sold date, primary key (id, sold)) partition by range columns (sold) (partition y2020 values less than ('2021-01-01'), partition rest values less than (maxvalue)); insert into sales values (1, '2020-05-05'), (2, '2021-05-05');
-- 079 1 CREATE TABLE with HASH partitions
create table logs (id int primary key, line text) partition by hash (id) partitions 4; insert into logs values (7, 'up');
-- 080 1 CREATE TABLE with a FULLTEXT key
create table pages (id int primary key, body text, fulltext key words (body)); insert into pages values (1, 'some words');
-- 081 1 CREATE TABLE with a GEOMETRY column and a SPATIAL key
create table shops (id int primary key, spot geometry not null, spatial key (spot)); insert into shops values (1, st_geomfromtext('POINT(1 1)'));
-- 082 1 column DEFAULT with an expression, and DEFAULT CURRENT_TIMESTAMP ON UPDATE
create table notes (id int primary key, day date default (current_date), made datetime(3) default current_timestamp(3) on update current_timestamp(3)); insert into notes (id) values (1);
-- 083 - ALTER TABLE ADD, MODIFY, CHANGE and DROP COLUMN
alter table actors add column born year after first_name, modify first_name varchar(60) not null, change last_name family_name varchar(45); alter table actors add index by_family (family_name); alter table actors drop column born;
-- 084 - ALTER TABLE ADD and DROP FOREIGN KEY
alter table film_actors add constraint of_film foreign key (film_id) references films (id) on delete cascade on update cascade; alter table film_actors drop foreign key of_film;
-- 085 - ALTER TABLE RENAME of column, index and table
alter table films rename column description to plot; alter table actors rename index by_name to by_last_name; alter table counters rename to hits_by_name;
-- 086 - ALTER TABLE with DEFAULT and VISIBLE
alter table films alter rating set default 'PG', alter year drop default; alter table actors alter index by_name invisible;
-- 087 - ALTER TABLE CONVERT TO CHARACTER SET
alter table staging convert to character set utf8mb4 collate utf8mb4_general_ci;
-- 088 - ALTER TABLE ENABLE and DISABLE KEYS, ENGINE
alter table staging disable keys; alter table staging enable keys; alter table staging engine = innodb;
-- 089 - RENAME TABLE that swaps two tables
create table counters_next like counters; rename table counters to counters_last, counters_next to counters;
-- 090 - CREATE INDEX with a prefix, an order and an expression; DROP INDEX
create unique index by_title on films (title(40) desc); create index by_lower on actors ((lower(first_name))); drop index by_title on films;
-- 091 - DROP TABLE of several tables
drop table if exists film_actors, actors, nothing_here;
-- 092 - CREATE VIEW with a join, and DROP VIEW
create or replace algorithm = merge definer = 'ann'@'%' sql security invoker view cast_list (film, actor) as select f.title, concat(a.first_name, ' ', a.last_name) from films f join film_actors fa on fa.film_id = f.id join actors a on a.id = fa.actor_id with local check option; drop view cast_list;
-- 093 - ALTER VIEW
create view europe as select name from countries where continent = 'Europe'; alter view europe as select code, name from countries where continent = 'Europe';
-- 094 1 CREATE TRIGGER
create trigger stock_check before update on products for each row set new.stock = greatest(new.stock, 0); update products set stock = 1 where id = 1;
-- 095 - CREATE PROCEDURE and CREATE FUNCTION with DELIMITER
delimiter //
create procedure count_films (in wanted year, out n int) begin select count(*) into n from films where year = wanted; end//
create function in_stock (p int) returns boolean reads sql data begin declare n int; select stock into n from products where id = p; return n > 0; end //
delimiter ;
-- 096 - CREATE EVENT
create event nightly on schedule every 1 day do delete from counters where hits = 0;
-- 097 - CALL
call count_films(2003, @n);
-- 098 1 PREPARE and EXECUTE
prepare one from 'update counters set hits = ? where name = ?'; set @h = 3, @n = 'home'; execute one using @h, @n; deallocate prepare one;
-- 099 0 SELECT with a window function, SHOW, EXPLAIN, DESCRIBE, ANALYZE TABLE
select name, rank() over (partition by dept_no order by salary desc) from employees; show create table films; explain select * from films; describe films; analyze table films;
-- 100 - XA transaction
xa start 'x1'; insert into counters values ('xa', 1); xa end 'x1'; xa prepare 'x1'; xa commit 'x1';
