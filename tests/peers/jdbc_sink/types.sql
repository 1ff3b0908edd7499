-- A value of each end of each type, and NULL; without what stops the sink.
CREATE DATABASE types;
CREATE TABLE types.edges (
  id INT PRIMARY KEY,
  c_tinyint TINYINT, c_tinyint_u TINYINT UNSIGNED, c_smallint SMALLINT, c_smallint_u SMALLINT UNSIGNED,
  c_mediumint MEDIUMINT, c_mediumint_u MEDIUMINT UNSIGNED, c_int INT, c_int_u INT UNSIGNED,
  c_bigint BIGINT, c_bigint_u BIGINT UNSIGNED,
  c_decimal DECIMAL(65,30), c_decimal_u DECIMAL(10,2) UNSIGNED, c_float FLOAT, c_double DOUBLE,
  c_bit BIT(5), c_bits BIT(16), c_year YEAR, c_date DATE, c_time TIME(6), c_datetime DATETIME(6), c_timestamp TIMESTAMP(6) NULL,
  c_char CHAR(255), c_varchar VARCHAR(500), c_text TEXT,
  c_binary BINARY(4), c_varbinary VARBINARY(20), c_blob BLOB,
  c_enum ENUM('a', 'b', 'c'), c_set SET('a', 'b', 'c'), c_json JSON, c_vector VECTOR(3)
);
INSERT INTO types.edges VALUES (
  1, -128, 0, -32768, 0, -8388608, 0, -2147483648, 0, -9223372036854775808, 0,
  -99999999999999999999999999999999999.999999999999999999999999999999, 0, -3.402823e38, -1.7976931348623157e308,
  b'0', 0, 1901, '1000-01-01', '00:00:00', '1000-01-01 00:00:00', '1970-01-01 00:00:01',
  '', '', '', '', '', '', 'a', '', 'null', '[0, -1.5, 3.4e38]'
), (
  2, 127, 255, 32767, 65535, 8388607, 16777215, 2147483647, 4294967295, 9223372036854775807, 18446744073709551615,
  99999999999999999999999999999999999.999999999999999999999999999999, 99999999.99, 3.402823e38, 1.7976931348623157e308,
  b'11111', 128, 2155, '9999-12-31', '23:59:59.999999', '9999-12-31 23:59:59.999999', '2038-01-19 03:14:07.999999',
  REPEAT('z', 255), REPEAT('😀', 500), 'null', x'00ff10ff', 'abcd', x'ff', 'c', 'a,b,c',
  '{"": [null, true, 1.5, ""]}', '[1, 2, 3]'
);
INSERT INTO types.edges (id) VALUES (3);
