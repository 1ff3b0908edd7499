CREATE DATABASE blog CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
USE blog;
CREATE TABLE authors (
  id SMALLINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  login VARCHAR(30) NOT NULL UNIQUE,
  secret BINARY(16) NOT NULL,
  born YEAR DEFAULT NULL
);
CREATE TABLE posts (
  id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  author SMALLINT NOT NULL,
  slug VARCHAR(90) COLLATE utf8mb4_bin NOT NULL,
  title TINYTEXT NOT NULL,
  body MEDIUMTEXT NOT NULL,
  state ENUM('draft','out') DEFAULT 'draft',
  written DATETIME(3) NOT NULL,
  changed TIMESTAMP(6) NULL DEFAULT NULL,
  UNIQUE KEY by_slug (slug),
  KEY by_author (author),
  CONSTRAINT written_by FOREIGN KEY (author) REFERENCES authors (id)
);
CREATE TABLE tags (name VARCHAR(40) NOT NULL PRIMARY KEY, posts INT NOT NULL DEFAULT 0) COLLATE utf8mb4_general_ci;
CREATE TABLE `post-tags` (post INT NOT NULL, `the tag` VARCHAR(40) NOT NULL, PRIMARY KEY (post, `the tag`), KEY k (`the tag`(5)));
CREATE TABLE comments (
  post INT NOT NULL,
  at DATETIME NOT NULL,
  text VARCHAR(2000) NOT NULL,
  address VARBINARY(16) DEFAULT NULL,
  votes INT NOT NULL DEFAULT 0
);
INSERT INTO authors VALUES (1,'mia',x'000102030405060708090a0b0c0d0e0f',1988), (2,'Zoë',x'ffffffffffffffffffffffffffffffff',NULL);
INSERT INTO posts VALUES (1,1,'first-post','First','Hello, world; it''s "me".\n\n-- not a comment\n/* nor this */ # or this','out','2022-05-06 07:08:09.123','2022-05-06 07:08:09.000001'),
 (2,2,'Über','Ü','DELIMITER //\nSOURCE other.sql\nUSE blog;\n','draft','2022-05-07 00:00:00.000',NULL), (10,1,'emoji','🦀','🦀 \\ '' " \t \Z','out','2023-01-01 00:00:00.500','2023-01-01 00:00:00.5');
INSERT INTO tags VALUES ('sql',2), ('Straße',0), ('',1);
INSERT INTO `post-tags` VALUES (1,'sql'), (2,'sql'), (10,'');
INSERT INTO comments VALUES (1,'2022-06-01 10:00:00','nice',x'7f000001',3), (1,'2022-06-01 10:00:00','nice',x'7f000001',3), (2,'2022-06-02 10:00:00','a\0b',NULL,-1);
DELIMITER //
CREATE FUNCTION words_of(t TEXT) RETURNS INT DETERMINISTIC BEGIN RETURN length(t) - length(replace(t, ' ', '')) + 1; END//
DELIMITER ;
