/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;

/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE `readings` (
  `device` binary(6) NOT NULL,
  `at` datetime(6) NOT NULL,
  `kind` tinyint(3) unsigned NOT NULL,
  `value` double DEFAULT NULL,
  `small` float DEFAULT NULL,
  `raw` bigint(20) unsigned DEFAULT NULL,
  `took` time(2) DEFAULT NULL,
  `payload` longblob DEFAULT NULL,
  PRIMARY KEY (`device`,`at`,`kind`),
  KEY `by_time` (`at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
