CREATE DATABASE framework CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
USE framework;
CREATE TABLE schema_migrations (version VARCHAR(255) COLLATE utf8mb4_bin NOT NULL PRIMARY KEY);
CREATE TABLE users (
  id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  password VARCHAR(128) NOT NULL,
  last_login DATETIME(6) DEFAULT NULL,
  is_superuser TINYINT(1) NOT NULL,
  username VARCHAR(150) NOT NULL,
  created_at TIMESTAMP NULL DEFAULT NULL,
  updated_at TIMESTAMP NULL DEFAULT NULL,
  deleted_at TIMESTAMP NULL DEFAULT NULL,
  UNIQUE KEY users_username_unique (username)
) AUTO_INCREMENT=42;
CREATE TABLE `groups` (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(80) NOT NULL, `order` INT NOT NULL DEFAULT 0);
CREATE TABLE group_user (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, user_id BIGINT NOT NULL, group_id INT NOT NULL,
  UNIQUE KEY both_ids (user_id, group_id), CONSTRAINT gu_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE ON UPDATE CASCADE, CONSTRAINT gu_group FOREIGN KEY (group_id) REFERENCES `groups` (id));
CREATE TABLE sessions (id CHAR(36) NOT NULL PRIMARY KEY, user_id BIGINT DEFAULT NULL, payload LONGTEXT NOT NULL, last_activity INT NOT NULL, KEY sessions_user_id_index (user_id), KEY sessions_last_activity_index (last_activity));
CREATE TABLE settings (`key` VARCHAR(50) NOT NULL, `value` LONGTEXT CHECK (json_valid(`value`)), serialized TEXT, PRIMARY KEY (`key`));
CREATE TABLE failed_jobs (uuid BINARY(16) NOT NULL UNIQUE, queue TEXT NOT NULL, failed_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE nodes (id INT NOT NULL PRIMARY KEY, parent_id INT DEFAULT NULL, path VARCHAR(20) NOT NULL, CONSTRAINT nodes_parent FOREIGN KEY (parent_id) REFERENCES nodes (id));
INSERT INTO schema_migrations VALUES ('20240101000000'), ('20240102000000');
INSERT INTO users VALUES (1,'pbkdf2_sha256$600000$a/b+c=','2024-05-01 12:34:56.654321',1,'admin','2024-01-01 00:00:00','2024-01-02 00:00:00',NULL),
 (2,'$2y$10$abc\\def',NULL,0,'O''Neil',NULL,NULL,'2024-03-10 02:30:00'), (41,'','2024-05-01 12:34:56.000000',0,'名',NULL,NULL,NULL);
INSERT INTO `groups` VALUES (1,'staff',2), (2,'everyone else',1);
INSERT INTO group_user VALUES (1,1,1), (2,1,2), (7,41,2);
INSERT INTO sessions VALUES ('5f0c7c2e-3b1a-4c55-9c0e-1f2e3d4c5b6a',1,'a:2:{s:3:"key";s:5:"it\'s\n";i:0;b:1;}',1714567890), ('00000000-0000-0000-0000-000000000000',NULL,'',0);
INSERT INTO settings VALUES ('theme','{"dark": true, "path": "C:\\\\x"}','---\n:a: 1\n'), ('empty',NULL,NULL);
INSERT INTO failed_jobs VALUES (x'00112233445566778899aabbccddeeff','default','2024-05-05 05:05:05'), (x'27275c5c0a0a0d0d1a1a000000000000','high','2024-05-05 05:05:06');
SET foreign_key_checks = 0;
INSERT INTO nodes VALUES (1,2,'/1'), (2,NULL,'/2'), (3,1,'/1/3');
