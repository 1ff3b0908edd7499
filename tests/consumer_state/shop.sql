CREATE TABLE shop.items (
  id INT PRIMARY KEY, name VARCHAR(40), price DECIMAL(12,2), weight FLOAT, ratio DOUBLE, picture VARBINARY(20),
  flags BIT(5), kind ENUM('small', 'large'), marks SET('new', 'used', 'sale'), made DATE, sold DATETIME(3),
  changed TIMESTAMP NULL, lasts TIME, year_of YEAR, details JSON, big BIGINT UNSIGNED, code CHAR(6)
);
INSERT INTO shop.items VALUES
  (1, 'lamp', 1.50, 123.99, 0.1, x'00FF10', b'10101', 'large', 'new,sale', '2021-12-20', '2021-12-20 13:30:49.120',
   '2021-12-20 13:30:49', '-12:00:01', 2021, '{"b": [1, 2.5, "x"], "a": null}', 18446744073709551615, 'ab'),
  (2, '', 100.00, 16777217, 1e300, x'', b'0', 'small', '', '1000-01-01', '2021-12-20 00:00:00.000',
   '1970-01-01 00:00:01', '838:59:59', 1901, '"text"', 0, ''),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE shop.stock (place VARCHAR(10), item INT, pieces INT NOT NULL, PRIMARY KEY (place, item));
INSERT INTO shop.stock VALUES ('north', 1, 5), ('north', 2, 7), ('south', 1, 9), ('south', 10, 0);
CREATE TABLE shop.notes (id INT PRIMARY KEY, note VARCHAR(40));
INSERT INTO shop.notes VALUES (1, NULL), (2, ''), (3, 'null'), (4, 'a,b "c"\nd'), (5, '😀');
