/*M!999999\- enable the sandbox mode */ 
-- MariaDB dump 10.19  Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: localhost    Database: warehouse
-- ------------------------------------------------------
-- Server version	10.11.19-MariaDB-0+deb12u1

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;
/*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;
/*!40101 SET NAMES utf8mb4 */;
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;

--
-- Current Database: `warehouse`
--

CREATE DATABASE /*!32312 IF NOT EXISTS*/ `warehouse` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci */;

USE `warehouse`;

--
-- Table structure for table `children`
--

DROP TABLE IF EXISTS `children`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `children` (
  `id` int(11) NOT NULL,
  `parent_id` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `fk_parent` (`parent_id`),
  CONSTRAINT `fk_parent` FOREIGN KEY (`parent_id`) REFERENCES `parents` (`id`) ON DELETE CASCADE ON UPDATE SET NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `children`
--

LOCK TABLES `children` WRITE;
/*!40000 ALTER TABLE `children` DISABLE KEYS */;
INSERT INTO `children` VALUES
(12,NULL),
(10,1),
(11,2);
/*!40000 ALTER TABLE `children` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Temporary table structure for view `dear`
--

DROP TABLE IF EXISTS `dear`;
/*!50001 DROP VIEW IF EXISTS `dear`*/;
SET @saved_cs_client     = @@character_set_client;
SET character_set_client = utf8mb4;
/*!50001 CREATE VIEW `dear` AS SELECT
 NULL AS `nr`,
 NULL AS `price` */;
SET character_set_client = @saved_cs_client;

--
-- Table structure for table `empty_table`
--

DROP TABLE IF EXISTS `empty_table`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `empty_table` (
  `id` int(11) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `empty_table`
--

LOCK TABLES `empty_table` WRITE;
/*!40000 ALTER TABLE `empty_table` DISABLE KEYS */;
/*!40000 ALTER TABLE `empty_table` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `every_type`
--

DROP TABLE IF EXISTS `every_type`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `every_type` (
  `id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `c_tinyint` tinyint(4) DEFAULT NULL,
  `c_tinyint_u` tinyint(3) unsigned DEFAULT 7,
  `c_bool` tinyint(1) DEFAULT 1,
  `c_smallint` smallint(6) DEFAULT NULL,
  `c_mediumint` mediumint(9) DEFAULT NULL,
  `c_int` int(10) unsigned zerofill DEFAULT NULL,
  `c_bigint` bigint(20) DEFAULT NULL,
  `c_bigint_u` bigint(20) unsigned DEFAULT NULL,
  `c_float` float DEFAULT NULL,
  `c_double` double DEFAULT NULL,
  `c_decimal` decimal(30,10) DEFAULT 0.5000000000,
  `c_bit` bit(10) DEFAULT b'101',
  `c_char` char(5) DEFAULT 'a b',
  `c_varchar` varchar(100) NOT NULL DEFAULT 'it''s',
  `c_binary` binary(4) DEFAULT NULL,
  `c_varbinary` varbinary(20) DEFAULT NULL,
  `c_tinytext` tinytext DEFAULT NULL,
  `c_text` text DEFAULT NULL,
  `c_mediumtext` mediumtext DEFAULT NULL,
  `c_longtext` longtext DEFAULT NULL,
  `c_tinyblob` tinyblob DEFAULT NULL,
  `c_blob` blob DEFAULT NULL,
  `c_mediumblob` mediumblob DEFAULT NULL,
  `c_longblob` longblob DEFAULT NULL,
  `c_date` date DEFAULT '2020-02-29',
  `c_time` time(3) DEFAULT NULL,
  `c_datetime` datetime(6) DEFAULT current_timestamp(6) ON UPDATE current_timestamp(6),
  `c_timestamp` timestamp NOT NULL DEFAULT current_timestamp() ON UPDATE current_timestamp(),
  `c_year` year(4) DEFAULT NULL,
  `c_enum` enum('red','it''s','blau,grÃ¼n') DEFAULT 'red',
  `c_set` set('x','y','z') DEFAULT NULL,
  `c_json` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`c_json`)),
  PRIMARY KEY (`id`),
  UNIQUE KEY `u_varchar` (`c_varchar`),
  KEY `k_text` (`c_text`(20)),
  KEY `k_both` (`c_date`,`c_enum`),
  FULLTEXT KEY `words` (`c_text`),
  CONSTRAINT `positive` CHECK (`c_smallint` > -1000)
) ENGINE=InnoDB AUTO_INCREMENT=4 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci COMMENT='one column of each type; with a ''quote''';
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `every_type`
--

LOCK TABLES `every_type` WRITE;
/*!40000 ALTER TABLE `every_type` DISABLE KEYS */;
INSERT INTO `every_type` VALUES
(1,-128,7,0,-5,8388607,0000000042,-9223372036854775808,18446744073709551615,1.5,2.2250738585072014e-308,12345678901234567890.0123456789,'à','ab','quote \' and \"double\" and \\ back','\0ÿ\Z\0','\0\n\r\Z\"\'\\ÿ','tab	','line one\nline two\r\n; -- not a comment\nDELIMITER //','/* not one */ # neither','grÃ¼n æ—¥æœ¬ ðŸ¦€','ÿ','\0\'\0\"\0\\\0\r\n\Z','text in a blob; \'','þþþþþþþþþþþþþþþþþþþþþþþþþþþþþþ','1000-01-01','-838:59:59.000','9999-12-31 23:59:59.999999','2038-01-19 03:14:07',2155,'blau,grÃ¼n','x,z','{\"a\": [1, \"b\\\"c\", null]}'),
(2,NULL,7,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'second',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'1970-01-01 00:00:01',NULL,NULL,NULL,NULL),
(3,NULL,7,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0.5000000000,'\0','a b','third; row',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'2020-02-29',NULL,'2021-06-15 12:00:00.500000','2021-06-15 12:00:00',NULL,'red',NULL,NULL);
/*!40000 ALTER TABLE `every_type` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `hashed`
--

DROP TABLE IF EXISTS `hashed`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `hashed` (
  `id` int(11) NOT NULL,
  `t` text DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci
 PARTITION BY HASH (`id`)
PARTITIONS 3;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `hashed`
--

LOCK TABLES `hashed` WRITE;
/*!40000 ALTER TABLE `hashed` DISABLE KEYS */;
INSERT INTO `hashed` VALUES
(3,'c'),
(1,'a'),
(2,'b');
/*!40000 ALTER TABLE `hashed` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Temporary table structure for view `names`
--

DROP TABLE IF EXISTS `names`;
/*!50001 DROP VIEW IF EXISTS `names`*/;
SET @saved_cs_client     = @@character_set_client;
SET character_set_client = utf8mb4;
/*!50001 CREATE VIEW `names` AS SELECT
 NULL AS `name`,
 NULL AS `child` */;
SET character_set_client = @saved_cs_client;

--
-- Table structure for table `no_key`
--

DROP TABLE IF EXISTS `no_key`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `no_key` (
  `a` int(11) DEFAULT NULL,
  `b` varchar(20) DEFAULT NULL,
  KEY `a` (`a`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `no_key`
--

LOCK TABLES `no_key` WRITE;
/*!40000 ALTER TABLE `no_key` DISABLE KEYS */;
INSERT INTO `no_key` VALUES
(1,'x'),
(1,'x'),
(NULL,NULL);
/*!40000 ALTER TABLE `no_key` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `odd name`
--

DROP TABLE IF EXISTS `odd name`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `odd name` (
  `select` int(11) NOT NULL,
  `a``b` varchar(5) DEFAULT '%',
  PRIMARY KEY (`select`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `odd name`
--

LOCK TABLES `odd name` WRITE;
/*!40000 ALTER TABLE `odd name` DISABLE KEYS */;
INSERT INTO `odd name` VALUES
(1,'x');
/*!40000 ALTER TABLE `odd name` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `parents`
--

DROP TABLE IF EXISTS `parents`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `parents` (
  `id` bigint(20) NOT NULL,
  `name` varchar(30) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `name` (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `parents`
--

LOCK TABLES `parents` WRITE;
/*!40000 ALTER TABLE `parents` DISABLE KEYS */;
INSERT INTO `parents` VALUES
(1,'one'),
(2,'two');
/*!40000 ALTER TABLE `parents` ENABLE KEYS */;
UNLOCK TABLES;
/*!50003 SET @saved_cs_client      = @@character_set_client */ ;
/*!50003 SET @saved_cs_results     = @@character_set_results */ ;
/*!50003 SET @saved_col_connection = @@collation_connection */ ;
/*!50003 SET character_set_client  = utf8mb4 */ ;
/*!50003 SET character_set_results = utf8mb4 */ ;
/*!50003 SET collation_connection  = utf8mb4_general_ci */ ;
/*!50003 SET @saved_sql_mode       = @@sql_mode */ ;
/*!50003 SET sql_mode              = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION' */ ;
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 trigger stamp before insert on parents for each row begin set new.name = concat(new.name, ';'); end 
*/;;
DELIMITER ;
/*!50003 SET sql_mode              = @saved_sql_mode */ ;
/*!50003 SET character_set_client  = @saved_cs_client */ ;
/*!50003 SET character_set_results = @saved_cs_results */ ;
/*!50003 SET collation_connection  = @saved_col_connection */ ;

--
-- Table structure for table `sold`
--

DROP TABLE IF EXISTS `sold`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `sold` (
  `id` int(11) NOT NULL,
  `day` date NOT NULL,
  `amount` decimal(8,2) DEFAULT NULL,
  PRIMARY KEY (`id`,`day`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci
 PARTITION BY RANGE  COLUMNS(`day`)
(PARTITION `y2020` VALUES LESS THAN ('2021-01-01') ENGINE = InnoDB,
 PARTITION `later` VALUES LESS THAN (MAXVALUE) ENGINE = InnoDB);
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `sold`
--

LOCK TABLES `sold` WRITE;
/*!40000 ALTER TABLE `sold` DISABLE KEYS */;
INSERT INTO `sold` VALUES
(1,'2020-03-01',10.50),
(2,'2022-03-01',7.00);
/*!40000 ALTER TABLE `sold` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `zero_ids`
--

DROP TABLE IF EXISTS `zero_ids`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `zero_ids` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `v` varchar(10) DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=6 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `zero_ids`
--

LOCK TABLES `zero_ids` WRITE;
/*!40000 ALTER TABLE `zero_ids` DISABLE KEYS */;
INSERT INTO `zero_ids` VALUES
(0,'zero'),
(5,'five');
/*!40000 ALTER TABLE `zero_ids` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Dumping events for database 'warehouse'
--
/*!50106 SET @save_time_zone= @@TIME_ZONE */ ;
/*!50106 DROP EVENT IF EXISTS `nightly` */;
DELIMITER ;;
/*!50003 SET @saved_cs_client      = @@character_set_client */ ;;
/*!50003 SET @saved_cs_results     = @@character_set_results */ ;;
/*!50003 SET @saved_col_connection = @@collation_connection */ ;;
/*!50003 SET character_set_client  = utf8mb4 */ ;;
/*!50003 SET character_set_results = utf8mb4 */ ;;
/*!50003 SET collation_connection  = utf8mb4_general_ci */ ;;
/*!50003 SET @saved_sql_mode       = @@sql_mode */ ;;
/*!50003 SET sql_mode              = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION' */ ;;
/*!50003 SET @saved_time_zone      = @@time_zone */ ;;
/*!50003 SET time_zone             = 'SYSTEM' */ ;;
/*!50106 CREATE*/ /*!50117 DEFINER=`root`@`localhost`*/ /*!50106 EVENT `nightly` ON SCHEDULE EVERY 1 DAY STARTS '2026-11-23 22:05:46' ON COMPLETION NOT PRESERVE ENABLE DO begin delete from no_key where a is null; delete from no_key where b = ''; end 
*/ ;;
/*!50003 SET time_zone             = @saved_time_zone */ ;;
/*!50003 SET sql_mode              = @saved_sql_mode */ ;;
/*!50003 SET character_set_client  = @saved_cs_client */ ;;
/*!50003 SET character_set_results = @saved_cs_results */ ;;
/*!50003 SET collation_connection  = @saved_col_connection */ ;;
DELIMITER ;
/*!50106 SET TIME_ZONE= @save_time_zone */ ;

--
-- Dumping routines for database 'warehouse'
--
/*!50003 SET @saved_sql_mode       = @@sql_mode */ ;
/*!50003 SET sql_mode              = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION' */ ;
/*!50003 DROP FUNCTION IF EXISTS `twice` */;
/*!50003 SET @saved_cs_client      = @@character_set_client */ ;
/*!50003 SET @saved_cs_results     = @@character_set_results */ ;
/*!50003 SET @saved_col_connection = @@collation_connection */ ;
/*!50003 SET character_set_client  = utf8mb4 */ ;
/*!50003 SET character_set_results = utf8mb4 */ ;
/*!50003 SET collation_connection  = utf8mb4_general_ci */ ;
DELIMITER ;;
CREATE DEFINER=`root`@`localhost` FUNCTION `twice`(n int) RETURNS int(11)
    DETERMINISTIC
return n * 2
;;
DELIMITER ;
/*!50003 SET sql_mode              = @saved_sql_mode */ ;
/*!50003 SET character_set_client  = @saved_cs_client */ ;
/*!50003 SET character_set_results = @saved_cs_results */ ;
/*!50003 SET collation_connection  = @saved_col_connection */ ;
/*!50003 SET @saved_sql_mode       = @@sql_mode */ ;
/*!50003 SET sql_mode              = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION' */ ;
/*!50003 DROP PROCEDURE IF EXISTS `count_rows` */;
/*!50003 SET @saved_cs_client      = @@character_set_client */ ;
/*!50003 SET @saved_cs_results     = @@character_set_results */ ;
/*!50003 SET @saved_col_connection = @@collation_connection */ ;
/*!50003 SET character_set_client  = utf8mb4 */ ;
/*!50003 SET character_set_results = utf8mb4 */ ;
/*!50003 SET collation_connection  = utf8mb4_general_ci */ ;
DELIMITER ;;
CREATE DEFINER=`root`@`localhost` PROCEDURE `count_rows`(out n int)
begin select count(*) into n from parents; end
;;
DELIMITER ;
/*!50003 SET sql_mode              = @saved_sql_mode */ ;
/*!50003 SET character_set_client  = @saved_cs_client */ ;
/*!50003 SET character_set_results = @saved_cs_results */ ;
/*!50003 SET collation_connection  = @saved_col_connection */ ;

--
-- Current Database: `warehouse`
--

USE `warehouse`;

--
-- Final view structure for view `dear`
--

/*!50001 DROP VIEW IF EXISTS `dear`*/;
/*!50001 SET @saved_cs_client          = @@character_set_client */;
/*!50001 SET @saved_cs_results         = @@character_set_results */;
/*!50001 SET @saved_col_connection     = @@collation_connection */;
/*!50001 SET character_set_client      = utf8mb4 */;
/*!50001 SET character_set_results     = utf8mb4 */;
/*!50001 SET collation_connection      = utf8mb4_general_ci */;
/*!50001 CREATE ALGORITHM=MERGE */
/*!50013 DEFINER=`root`@`localhost` SQL SECURITY INVOKER */
/*!50001 VIEW `dear` AS select `sold`.`id` AS `nr`,`sold`.`amount` AS `price` from `sold` where `sold`.`amount` > 8 */
/*!50002 WITH CASCADED CHECK OPTION */;
/*!50001 SET character_set_client      = @saved_cs_client */;
/*!50001 SET character_set_results     = @saved_cs_results */;
/*!50001 SET collation_connection      = @saved_col_connection */;

--
-- Final view structure for view `names`
--

/*!50001 DROP VIEW IF EXISTS `names`*/;
/*!50001 SET @saved_cs_client          = @@character_set_client */;
/*!50001 SET @saved_cs_results         = @@character_set_results */;
/*!50001 SET @saved_col_connection     = @@collation_connection */;
/*!50001 SET character_set_client      = utf8mb4 */;
/*!50001 SET character_set_results     = utf8mb4 */;
/*!50001 SET collation_connection      = utf8mb4_general_ci */;
/*!50001 CREATE ALGORITHM=UNDEFINED */
/*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */
/*!50001 VIEW `names` AS select `p`.`name` AS `name`,`c`.`id` AS `child` from (`parents` `p` left join `children` `c` on(`c`.`parent_id` = `p`.`id`)) */;
/*!50001 SET character_set_client      = @saved_cs_client */;
/*!50001 SET character_set_results     = @saved_cs_results */;
/*!50001 SET collation_connection      = @saved_col_connection */;
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;

/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;
/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;
/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
/*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;
/*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;
/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;

-- Dump completed on 2026-11-23 22:05:46
