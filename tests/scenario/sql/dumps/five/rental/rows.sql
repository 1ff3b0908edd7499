/*M!999999\- enable the sandbox mode */ 
-- MariaDB dump 10.19  Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: 127.0.0.1    Database: rental
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
-- Current Database: `rental`
--

CREATE DATABASE /*!32312 IF NOT EXISTS*/ `rental` /*!40100 DEFAULT CHARACTER SET latin1 COLLATE latin1_bin */;

USE `rental`;

--
-- Table structure for table `actors`
--

DROP TABLE IF EXISTS `actors`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `actors` (
  `id` smallint(5) unsigned NOT NULL AUTO_INCREMENT,
  `first` varchar(45) NOT NULL,
  `last` varchar(45) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `by_last` (`last`)
) ENGINE=InnoDB AUTO_INCREMENT=201 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `actors`
--

LOCK TABLES `actors` WRITE;
/*!40000 ALTER TABLE `actors` DISABLE KEYS */;
INSERT INTO `actors` (`id`, `first`, `last`) VALUES (1,'PENELOPE','GUINESS');
INSERT INTO `actors` (`id`, `first`, `last`) VALUES (2,'NICK','WAHLBERG');
INSERT INTO `actors` (`id`, `first`, `last`) VALUES (200,'Zoë','');
/*!40000 ALTER TABLE `actors` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `cast_of`
--

DROP TABLE IF EXISTS `cast_of`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `cast_of` (
  `actor` smallint(5) unsigned NOT NULL,
  `film` smallint(5) unsigned NOT NULL,
  PRIMARY KEY (`actor`,`film`),
  KEY `k` (`film`),
  CONSTRAINT `cast_actor` FOREIGN KEY (`actor`) REFERENCES `actors` (`id`),
  CONSTRAINT `cast_film` FOREIGN KEY (`film`) REFERENCES `films` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `cast_of`
--

LOCK TABLES `cast_of` WRITE;
/*!40000 ALTER TABLE `cast_of` DISABLE KEYS */;
INSERT INTO `cast_of` (`actor`, `film`) VALUES (1,1);
INSERT INTO `cast_of` (`actor`, `film`) VALUES (1,2);
INSERT INTO `cast_of` (`actor`, `film`) VALUES (200,1000);
/*!40000 ALTER TABLE `cast_of` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Temporary table structure for view `film_actors`
--

DROP TABLE IF EXISTS `film_actors`;
/*!50001 DROP VIEW IF EXISTS `film_actors`*/;
SET @saved_cs_client     = @@character_set_client;
SET character_set_client = utf8mb4;
/*!50001 CREATE VIEW `film_actors` AS SELECT
 NULL AS `title`,
 NULL AS `last` */;
SET character_set_client = @saved_cs_client;

--
-- Table structure for table `films`
--

DROP TABLE IF EXISTS `films`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
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
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `films`
--

LOCK TABLES `films` WRITE;
/*!40000 ALTER TABLE `films` DISABLE KEYS */;
INSERT INTO `films` (`id`, `title`, `summary`, `released`, `language`, `days`, `fee`, `minutes`, `rating`, `extras`, `changed`) VALUES (1,'Dust; and \"Glory\"','A man\'s search for C:\\temp',2006,1,6,0.99,86,'PG','Trailers,Deleted Scenes','2024-02-15 05:03:42');
INSERT INTO `films` (`id`, `title`, `summary`, `released`, `language`, `days`, `fee`, `minutes`, `rating`, `extras`, `changed`) VALUES (2,'L\'été',NULL,NULL,2,3,4.99,NULL,'G',NULL,'2024-02-15 05:03:42');
INSERT INTO `films` (`id`, `title`, `summary`, `released`, `language`, `days`, `fee`, `minutes`, `rating`, `extras`, `changed`) VALUES (1000,'雨','',2155,9,7,99.99,65535,NULL,'','2024-02-15 05:03:42');
/*!40000 ALTER TABLE `films` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `languages`
--

DROP TABLE IF EXISTS `languages`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `languages` (
  `id` tinyint(3) unsigned NOT NULL AUTO_INCREMENT,
  `name` char(20) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=10 DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `languages`
--

LOCK TABLES `languages` WRITE;
/*!40000 ALTER TABLE `languages` DISABLE KEYS */;
INSERT INTO `languages` (`id`, `name`) VALUES (1,'English');
INSERT INTO `languages` (`id`, `name`) VALUES (2,'Français');
INSERT INTO `languages` (`id`, `name`) VALUES (9,'日本語');
/*!40000 ALTER TABLE `languages` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `payments`
--

DROP TABLE IF EXISTS `payments`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `payments` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `year` smallint(6) NOT NULL,
  `amount` decimal(5,2) NOT NULL,
  `paid` datetime NOT NULL,
  PRIMARY KEY (`id`,`year`)
) ENGINE=InnoDB AUTO_INCREMENT=4 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci
 PARTITION BY RANGE (`year`)
(PARTITION `y2022` VALUES LESS THAN (2023) ENGINE = InnoDB,
 PARTITION `y2023` VALUES LESS THAN (2024) ENGINE = InnoDB,
 PARTITION `later` VALUES LESS THAN MAXVALUE ENGINE = InnoDB);
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `payments`
--

LOCK TABLES `payments` WRITE;
/*!40000 ALTER TABLE `payments` DISABLE KEYS */;
INSERT INTO `payments` (`id`, `year`, `amount`, `paid`) VALUES (1,2022,2.99,'2022-05-25 11:30:37');
INSERT INTO `payments` (`id`, `year`, `amount`, `paid`) VALUES (2,2023,0.00,'2023-12-31 23:59:59');
INSERT INTO `payments` (`id`, `year`, `amount`, `paid`) VALUES (3,2024,-1.50,'2024-01-01 00:00:00');
/*!40000 ALTER TABLE `payments` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Temporary table structure for view `short_films`
--

DROP TABLE IF EXISTS `short_films`;
/*!50001 DROP VIEW IF EXISTS `short_films`*/;
SET @saved_cs_client     = @@character_set_client;
SET character_set_client = utf8mb4;
/*!50001 CREATE VIEW `short_films` AS SELECT
 NULL AS `title` */;
SET character_set_client = @saved_cs_client;

--
-- Dumping events for database 'rental'
--
/*!50106 SET @save_time_zone= @@TIME_ZONE */ ;
/*!50106 DROP EVENT IF EXISTS `tidy` */;
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
/*!50106 CREATE*/ /*!50117 DEFINER=`root`@`localhost`*/ /*!50106 EVENT `tidy` ON SCHEDULE EVERY 1 DAY STARTS '2026-11-27 02:51:04' ON COMPLETION NOT PRESERVE ENABLE DO BEGIN DELETE FROM payments WHERE amount = 0; END 
*/ ;;
/*!50003 SET time_zone             = @saved_time_zone */ ;;
/*!50003 SET sql_mode              = @saved_sql_mode */ ;;
/*!50003 SET character_set_client  = @saved_cs_client */ ;;
/*!50003 SET character_set_results = @saved_cs_results */ ;;
/*!50003 SET collation_connection  = @saved_col_connection */ ;;
DELIMITER ;
/*!50106 SET TIME_ZONE= @save_time_zone */ ;

--
-- Dumping routines for database 'rental'
--

--
-- Current Database: `rental`
--

USE `rental`;

--
-- Final view structure for view `film_actors`
--

/*!50001 DROP VIEW IF EXISTS `film_actors`*/;
/*!50001 SET @saved_cs_client          = @@character_set_client */;
/*!50001 SET @saved_cs_results         = @@character_set_results */;
/*!50001 SET @saved_col_connection     = @@collation_connection */;
/*!50001 SET character_set_client      = utf8mb4 */;
/*!50001 SET character_set_results     = utf8mb4 */;
/*!50001 SET collation_connection      = utf8mb4_general_ci */;
/*!50001 CREATE ALGORITHM=UNDEFINED */
/*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */
/*!50001 VIEW `film_actors` AS select `f`.`title` AS `title`,`a`.`last` AS `last` from ((`films` `f` join `cast_of` `c` on(`c`.`film` = `f`.`id`)) join `actors` `a` on(`a`.`id` = `c`.`actor`)) */;
/*!50001 SET character_set_client      = @saved_cs_client */;
/*!50001 SET character_set_results     = @saved_cs_results */;
/*!50001 SET collation_connection      = @saved_col_connection */;

--
-- Final view structure for view `short_films`
--

/*!50001 DROP VIEW IF EXISTS `short_films`*/;
/*!50001 SET @saved_cs_client          = @@character_set_client */;
/*!50001 SET @saved_cs_results         = @@character_set_results */;
/*!50001 SET @saved_col_connection     = @@collation_connection */;
/*!50001 SET character_set_client      = utf8mb4 */;
/*!50001 SET character_set_results     = utf8mb4 */;
/*!50001 SET collation_connection      = utf8mb4_general_ci */;
/*!50001 CREATE ALGORITHM=UNDEFINED */
/*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */
/*!50001 VIEW `short_films` AS select `film_actors`.`title` AS `title` from `film_actors` where `film_actors`.`last` <> '' */;
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

-- Dump completed on 2026-11-27  2:51:05
