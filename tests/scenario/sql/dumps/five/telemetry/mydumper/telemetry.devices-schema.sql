/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;

/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE `devices` (
  `id` binary(6) NOT NULL,
  `label` varchar(60) NOT NULL,
  `place` longtext DEFAULT NULL CHECK (json_valid(`place`)),
  `flags` bit(12) NOT NULL DEFAULT b'101',
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
