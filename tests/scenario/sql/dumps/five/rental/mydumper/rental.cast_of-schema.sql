/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;

/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE `cast_of` (
  `actor` smallint(5) unsigned NOT NULL,
  `film` smallint(5) unsigned NOT NULL,
  PRIMARY KEY (`actor`,`film`),
  KEY `k` (`film`),
  CONSTRAINT `cast_actor` FOREIGN KEY (`actor`) REFERENCES `actors` (`id`),
  CONSTRAINT `cast_film` FOREIGN KEY (`film`) REFERENCES `films` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
