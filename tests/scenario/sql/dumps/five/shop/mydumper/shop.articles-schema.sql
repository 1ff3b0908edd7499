/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;

/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE `articles` (
  `sku` char(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `title` varchar(100) NOT NULL,
  `price` decimal(9,2) unsigned NOT NULL,
  `rate` decimal(4,3) NOT NULL DEFAULT 0.190,
  `weight` double DEFAULT NULL,
  `kind` enum('book','toy','other thing') NOT NULL DEFAULT 'toy',
  `marks` set('new','sale','last one') NOT NULL DEFAULT '',
  `picture` blob DEFAULT NULL,
  PRIMARY KEY (`sku`),
  FULLTEXT KEY `words` (`title`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
