CREATE DATABASE shop;
USE shop;
CREATE TABLE customers (
  id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL, email VARCHAR(80) UNIQUE,
  born DATE, seen DATETIME(3), created TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, photo VARBINARY(20)
);
CREATE TABLE products (
  sku CHAR(8) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, title VARCHAR(100) NOT NULL, price DECIMAL(10, 2) NOT NULL,
  weight FLOAT, tags SET('new', 'sale', 'gift'), state ENUM('draft', 'live', 'gone') NOT NULL DEFAULT 'draft',
  details JSON, gross DECIMAL(12, 2) AS (price * 1.2) STORED, flags BIT(6)
);
CREATE TABLE orders (
  id INT AUTO_INCREMENT PRIMARY KEY, customer BIGINT UNSIGNED NOT NULL, placed DATETIME NOT NULL, took TIME(2), early TIME,
  note TEXT, season YEAR, total DOUBLE, KEY (customer),
  CONSTRAINT of_customer FOREIGN KEY (customer) REFERENCES customers (id)
);
CREATE TABLE order_lines (
  order_id INT, line INT, sku CHAR(8) CHARACTER SET ascii COLLATE ascii_bin, amount SMALLINT UNSIGNED, PRIMARY KEY (order_id, line)
);
INSERT INTO customers (name, email, born, seen, photo) VALUES
  ('Ada', 'ada@example.org', '1990-02-28', '2024-01-02 03:04:05.678', x'00ff10'), ('Zoë 日本', 'zoe@example.org', NULL, NULL, NULL);
INSERT INTO customers (name, email) VALUES ('Temporary', NULL);
INSERT INTO products (sku, title, price, weight, tags, state, details, flags) VALUES
  ('A-1', 'Lamp', 19.90, 1.1, 'sale,new', 'live', '{"watts": 5, "colours": ["red", "blue"]}', b'101'),
  ('B-2', 'Table', 199.00, 12.25, '', 'draft', NULL, b'0'),
  ('C-3', 'Chair', 49.50, NULL, 'gift', 'live', '[]', NULL);
BEGIN;
INSERT INTO orders (customer, placed, took, early, note, season, total) VALUES (1, '2024-03-31 02:30:00', '101:02:03.45', '-00:00:59', 'first', 2024, 59.7);
INSERT INTO order_lines VALUES (1, 1, 'A-1', 3);
INSERT INTO order_lines VALUES (1, 2, 'C-3', 65535);
UPDATE products SET price = price + 1 WHERE sku = 'A-1';
COMMIT;
BEGIN;
INSERT INTO orders (customer, placed) VALUES (2, '2024-04-01 00:00:00');
ROLLBACK;
BEGIN;
INSERT INTO orders (customer, placed, total) VALUES (2, '2024-04-02 00:00:00', 1234567.5);
INSERT INTO order_lines SELECT id, 1, 'B-2', 1 FROM orders WHERE customer = 2;
COMMIT;
UPDATE customers SET email = 'ada@example.com', seen = '2024-05-06 07:08:09.1' WHERE id = 1;
UPDATE customers SET id = 30 WHERE name = 'Temporary';
DELETE FROM customers WHERE id = 30;
ALTER TABLE customers ADD COLUMN points INT NOT NULL DEFAULT 10 AFTER name;
UPDATE customers SET points = points * 2;
CREATE INDEX by_price ON products (price);
INSERT INTO products (sku, title, price, state) VALUES ('D-4', 'Mirror', 0.01, 'gone') ON DUPLICATE KEY UPDATE price = 1;
INSERT INTO products (sku, title, price, state) VALUES ('D-4', 'Mirror', 0.02, 'gone') ON DUPLICATE KEY UPDATE price = 2.5;
REPLACE INTO order_lines VALUES (1, 1, 'D-4', 2);
SAVEPOINT none;
BEGIN;
UPDATE order_lines SET line = line + 10 WHERE order_id = 1 ORDER BY line DESC;
SAVEPOINT kept;
DELETE FROM order_lines;
ROLLBACK TO SAVEPOINT kept;
COMMIT;
CREATE TABLE archive LIKE orders;
INSERT INTO archive SELECT * FROM orders WHERE customer = 1;
ALTER TABLE archive ADD COLUMN reason VARCHAR(20) DEFAULT 'old', DROP COLUMN note;
UPDATE archive SET reason = NULL;
RENAME TABLE archive TO old_orders;
CREATE TEMPORARY TABLE scratch (a INT);
INSERT INTO scratch VALUES (1);
DROP TEMPORARY TABLE scratch;
CREATE TABLE log (at DATETIME, what VARCHAR(10));
INSERT INTO log VALUES (NOW(), 'a'), (NOW(), 'a');
DROP TABLE log;
CREATE TABLE counters (name VARCHAR(20) PRIMARY KEY, n INT);
INSERT INTO counters VALUES ('visits', 1), ('orders', 2);
TRUNCATE TABLE counters;
INSERT INTO counters VALUES ('visits', 3);
CREATE USER 'app'@'localhost' IDENTIFIED BY 'a-secret-of-8';
GRANT SELECT ON shop.* TO 'app'@'localhost';
FLUSH BINARY LOGS;
ALTER TABLE products MODIFY COLUMN title VARCHAR(200) NOT NULL;
UPDATE products SET title = CONCAT(title, '!'), details = JSON_SET(details, '$.watts', 6) WHERE sku = 'A-1';
DELETE FROM products WHERE sku = 'B-2';
