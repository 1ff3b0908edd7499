/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;

/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE `films` (
  `id` smallint(5) unsigned NOT NULL AUTO_INCREMENT,
  `title` varchar(128) NOT NULL,
  `summary` text DEFAULT NULL,
  `released` year(4) DEFAULT NULL,
  `language` tinyint(3) unsigned NOT NULL,
  `days` tinyint(3) unsigned NOT NULL DEFAULT 3,
  `fee` decimal(4,2) NOT NULL DEFAULT 4.99,
  `minutes` smallint(5) unsigned DEFAULT NULL,
  `rating` enum('G','PG','PG-13','R') DEFAULT 'G',
  `extras` set('Trailers','Commentaries','Deleted Scenes') DEFAULT NULL,
  `changed` timestamp NOT NULL DEFAULT current_timestamp() ON UPDATE current_timestamp(),
  PRIMARY KEY (`id`),
  KEY `by_title` (`title`),
  KEY `spoken` (`language`),
  CONSTRAINT `spoken` FOREIGN KEY (`language`) REFERENCES `languages` (`id`) ON UPDATE CASCADE
) ENGINE=InnoDB AUTO_INCREMENT=1001 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
