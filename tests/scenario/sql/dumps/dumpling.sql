/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40101 SET NAMES binary*/;
CREATE DATABASE `depot` /*!40100 DEFAULT CHARACTER SET utf8mb4 */;
USE `depot`;
/*T![placement] SET PLACEMENT_CHECKS = 0*/;
CREATE TABLE `goods` (
  `id` bigint(20) NOT NULL /*T![auto_rand] AUTO_RANDOM(5) */,
  `label` varchar(40) NOT NULL,
  `picture` blob DEFAULT NULL,
  `made` datetime DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (`id`) /*T![clustered_index] CLUSTERED */,
  UNIQUE KEY `label` (`label`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin /*T![auto_id_cache] AUTO_ID_CACHE=1 */ /*T![ttl] TTL=`made` + INTERVAL 1 YEAR */ /*T![ttl] TTL_ENABLE='OFF' */ /*T![ttl] TTL_JOB_INTERVAL='1h' */;
CREATE TABLE `history` (
  `id` int(11) NOT NULL,
  `note` text DEFAULT NULL,
  PRIMARY KEY (`id`) /*T![clustered_index] NONCLUSTERED */
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
PARTITION BY HASH (`id`) PARTITIONS 2;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40101 SET NAMES binary*/;
INSERT INTO `goods` VALUES
(1152921504606846977,'it\'s; new',x'00ff','2020-01-01 00:00:00'),
(2305843009213693954,'grün',NULL,NULL);
INSERT INTO `history` VALUES
(1,'first\nline'),
(2,NULL);
