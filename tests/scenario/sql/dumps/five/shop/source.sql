CREATE DATABASE shop CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
USE shop;
CREATE TABLE customers (
  id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  email VARCHAR(120) NOT NULL,
  name VARCHAR(80) NOT NULL DEFAULT '',
  newsletter BOOLEAN NOT NULL DEFAULT 0,
  since DATE NOT NULL,
  UNIQUE KEY by_email (email)
) COMMENT='people; they''re ours';
CREATE TABLE articles (
  sku CHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  title VARCHAR(100) NOT NULL,
  price DECIMAL(9,2) UNSIGNED NOT NULL,
  rate DECIMAL(4,3) NOT NULL DEFAULT 0.190,
  weight DOUBLE DEFAULT NULL,
  kind ENUM('book','toy','other thing') NOT NULL DEFAULT 'toy',
  marks SET('new','sale','last one') NOT NULL DEFAULT '',
  picture BLOB,
  FULLTEXT KEY words (title)
);
CREATE TABLE orders (
  id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  customer_id INT UNSIGNED DEFAULT NULL,
  state TINYINT NOT NULL DEFAULT 0,
  placed TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  paid DATETIME DEFAULT NULL,
  note TEXT,
  KEY by_customer (customer_id, placed),
  CONSTRAINT of_customer FOREIGN KEY (customer_id) REFERENCES customers (id) ON DELETE SET NULL
);
CREATE TABLE order_lines (
  order_id BIGINT NOT NULL,
  line SMALLINT NOT NULL,
  sku CHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  amount INT NOT NULL DEFAULT 1,
  price DECIMAL(9,2) NOT NULL,
  PRIMARY KEY (order_id, line),
  CONSTRAINT of_order FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE,
  CONSTRAINT of_article FOREIGN KEY (sku) REFERENCES articles (sku),
  CONSTRAINT some_amount CHECK (amount > 0)
);
CREATE VIEW open_orders AS SELECT o.id, c.email FROM orders o LEFT JOIN customers c ON c.id = o.customer_id WHERE o.state = 0;
INSERT INTO customers VALUES (1,'ann@example.com','Ann O''Hara',1,'2019-02-28'), (2,'bo@example.com','Bø "B" Ek',0,'2020-02-29'), (5,'c@example.com','back\\slash',0,'2021-12-31');
INSERT INTO articles VALUES ('A0000001','100% wool; blue',19.90,0.190,0.25,'other thing','new,sale',x'89504e470d0a1a0a00ff'),
 ('A0000002','1001 nights',9.99,0.070,NULL,'book','',NULL), ('b0000003','ボール',5.00,DEFAULT,1e-7,'toy','last one',x'');
INSERT INTO orders VALUES (1,1,2,'2024-01-31 23:59:59','2024-02-01 08:00:00','ring twice\nthen wait'), (2,2,0,'2024-02-29 12:00:00',NULL,NULL), (3,NULL,1,'2024-03-01 00:00:00',NULL,'');
INSERT INTO order_lines VALUES (1,1,'A0000001',2,19.90), (1,2,'b0000003',1,5.00), (2,1,'A0000002',1,9.99), (3,1,'A0000001',3,18.00);
DELIMITER //
CREATE TRIGGER keep_price BEFORE INSERT ON order_lines FOR EACH ROW BEGIN IF NEW.price < 0 THEN SET NEW.price = 0; END IF; END//
CREATE PROCEDURE close_orders() BEGIN UPDATE orders SET state = 2 WHERE paid IS NOT NULL; END//
DELIMITER ;
