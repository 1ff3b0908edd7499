/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;

/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE `actors` (
  `id` smallint(5) unsigned NOT NULL AUTO_INCREMENT,
  `first` varchar(45) NOT NULL,
  `last` varchar(45) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `by_last` (`last`)
) ENGINE=InnoDB AUTO_INCREMENT=201 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
