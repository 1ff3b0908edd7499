/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;

/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE `posts` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `author` smallint(6) NOT NULL,
  `slug` varchar(90) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `title` tinytext NOT NULL,
  `body` mediumtext NOT NULL,
  `state` enum('draft','out') DEFAULT 'draft',
  `written` datetime(3) NOT NULL,
  `changed` timestamp(6) NULL DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `by_slug` (`slug`),
  KEY `by_author` (`author`),
  CONSTRAINT `written_by` FOREIGN KEY (`author`) REFERENCES `authors` (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=11 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
