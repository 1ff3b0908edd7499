/*M!999999\- enable the sandbox mode */ 

CREATE DATABASE /*!32312 IF NOT EXISTS*/ `telemetry` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin */;

USE `telemetry`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `devices` (
  `id` binary(6) NOT NULL,
  `label` varchar(60) NOT NULL,
  `place` longtext DEFAULT NULL CHECK (json_valid(`place`)),
  `flags` bit(12) NOT NULL DEFAULT b'101',
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `devices` VALUES
('\0\0\0\0\0\0','','[]','\0'),
('\n\r','roof','{\"x\": 1.50, \"y\": [1, null, \"a\\\"b\"]}',''),
('\\\'\"\n\r\Z','quote bytes',NULL,'\0\0');
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `log` (
  `line` text NOT NULL,
  `level` char(1) NOT NULL DEFAULT 'i'
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `log` VALUES
('started','i'),
('100 %; done','w'),
('started','i');
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
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
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `readings` VALUES
('\0\0\0\0\0\0','1000-01-01 00:00:00.000000',255,5e-324,-1e-38,9223372036854775808,NULL,'\'\0\"\0\\\n\r\Zÿ'),
('\n\r','2024-06-30 23:59:59.999999',1,1.7976931348623157e308,3.40282e38,18446744073709551615,'838:59:59.00','\0'),
('\n\r','2024-07-01 00:00:00.000000',1,-0.1,0.1,0,'-00:00:00.01',NULL),
('\\\'\"\n\r\Z','9999-12-31 23:59:59.999999',0,NULL,NULL,NULL,'00:00:00.00','');
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `totals` (
  `day` date NOT NULL,
  `n` bigint(20) NOT NULL DEFAULT 0,
  `sum` decimal(38,12) NOT NULL DEFAULT 0.000000000000,
  PRIMARY KEY (`day`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `totals` VALUES
('2024-06-30',-5,-12345678901234567890123456.000000000001),
('2024-07-01',7,0.000000000000);
