/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;

/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE `customers` (
  `id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `email` varchar(120) NOT NULL,
  `name` varchar(80) NOT NULL DEFAULT '',
  `newsletter` tinyint(1) NOT NULL DEFAULT 0,
  `since` date NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `by_email` (`email`)
) ENGINE=InnoDB AUTO_INCREMENT=6 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci COMMENT='people; they''re ours';
