/*M!999999\- enable the sandbox mode */ 
-- MariaDB dump 10.19  Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: 127.0.0.1    Database: shop
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
-- Current Database: `shop`
--

CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci */;

USE `shop`;

--
-- Table structure for table `articles`
--

DROP TABLE IF EXISTS `articles`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
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
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `articles`
--

LOCK TABLES `articles` WRITE;
/*!40000 ALTER TABLE `articles` DISABLE KEYS */;
INSERT INTO `articles` (`sku`, `title`, `price`, `rate`, `weight`, `kind`, `marks`, `picture`) VALUES ('A0000001','100% wool; blue',19.90,0.190,0.25,'other thing','new,sale',0x89504E470D0A1A0A00FF);
INSERT INTO `articles` (`sku`, `title`, `price`, `rate`, `weight`, `kind`, `marks`, `picture`) VALUES ('A0000002','1001 nights',9.99,0.070,NULL,'book','',NULL);
INSERT INTO `articles` (`sku`, `title`, `price`, `rate`, `weight`, `kind`, `marks`, `picture`) VALUES ('b0000003','ボール',5.00,0.190,0.0000001,'toy','last one','');
/*!40000 ALTER TABLE `articles` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `customers`
--

DROP TABLE IF EXISTS `customers`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `customers` (
  `id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `email` varchar(120) NOT NULL,
  `name` varchar(80) NOT NULL DEFAULT '',
  `newsletter` tinyint(1) NOT NULL DEFAULT 0,
  `since` date NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `by_email` (`email`)
) ENGINE=InnoDB AUTO_INCREMENT=6 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci COMMENT='people; they''re ours';
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `customers`
--

LOCK TABLES `customers` WRITE;
/*!40000 ALTER TABLE `customers` DISABLE KEYS */;
INSERT INTO `customers` (`id`, `email`, `name`, `newsletter`, `since`) VALUES (1,'ann@example.com','Ann O\'Hara',1,'2019-02-28');
INSERT INTO `customers` (`id`, `email`, `name`, `newsletter`, `since`) VALUES (2,'bo@example.com','Bø \"B\" Ek',0,'2020-02-29');
INSERT INTO `customers` (`id`, `email`, `name`, `newsletter`, `since`) VALUES (5,'c@example.com','back\\slash',0,'2021-12-31');
/*!40000 ALTER TABLE `customers` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Temporary table structure for view `open_orders`
--

DROP TABLE IF EXISTS `open_orders`;
/*!50001 DROP VIEW IF EXISTS `open_orders`*/;
SET @saved_cs_client     = @@character_set_client;
SET character_set_client = utf8mb4;
/*!50001 CREATE VIEW `open_orders` AS SELECT
 NULL AS `id`,
 NULL AS `email` */;
SET character_set_client = @saved_cs_client;

--
-- Table structure for table `order_lines`
--

DROP TABLE IF EXISTS `order_lines`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `order_lines` (
  `order_id` bigint(20) NOT NULL,
  `line` smallint(6) NOT NULL,
  `sku` char(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `amount` int(11) NOT NULL DEFAULT 1,
  `price` decimal(9,2) NOT NULL,
  PRIMARY KEY (`order_id`,`line`),
  KEY `of_article` (`sku`),
  CONSTRAINT `of_article` FOREIGN KEY (`sku`) REFERENCES `articles` (`sku`),
  CONSTRAINT `of_order` FOREIGN KEY (`order_id`) REFERENCES `orders` (`id`) ON DELETE CASCADE,
  CONSTRAINT `some_amount` CHECK (`amount` > 0)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `order_lines`
--

LOCK TABLES `order_lines` WRITE;
/*!40000 ALTER TABLE `order_lines` DISABLE KEYS */;
INSERT INTO `order_lines` (`order_id`, `line`, `sku`, `amount`, `price`) VALUES (1,1,'A0000001',2,19.90);
INSERT INTO `order_lines` (`order_id`, `line`, `sku`, `amount`, `price`) VALUES (1,2,'b0000003',1,5.00);
INSERT INTO `order_lines` (`order_id`, `line`, `sku`, `amount`, `price`) VALUES (2,1,'A0000002',1,9.99);
INSERT INTO `order_lines` (`order_id`, `line`, `sku`, `amount`, `price`) VALUES (3,1,'A0000001',3,18.00);
/*!40000 ALTER TABLE `order_lines` ENABLE KEYS */;
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
/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER keep_price BEFORE INSERT ON order_lines FOR EACH ROW BEGIN IF NEW.price < 0 THEN SET NEW.price = 0; END IF; END 
*/;;
DELIMITER ;
/*!50003 SET sql_mode              = @saved_sql_mode */ ;
/*!50003 SET character_set_client  = @saved_cs_client */ ;
/*!50003 SET character_set_results = @saved_cs_results */ ;
/*!50003 SET collation_connection  = @saved_col_connection */ ;

--
-- Table structure for table `orders`
--

DROP TABLE IF EXISTS `orders`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `orders` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `customer_id` int(10) unsigned DEFAULT NULL,
  `state` tinyint(4) NOT NULL DEFAULT 0,
  `placed` timestamp NOT NULL DEFAULT current_timestamp(),
  `paid` datetime DEFAULT NULL,
  `note` text DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `by_customer` (`customer_id`,`placed`),
  CONSTRAINT `of_customer` FOREIGN KEY (`customer_id`) REFERENCES `customers` (`id`) ON DELETE SET NULL
) ENGINE=InnoDB AUTO_INCREMENT=4 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `orders`
--

LOCK TABLES `orders` WRITE;
/*!40000 ALTER TABLE `orders` DISABLE KEYS */;
INSERT INTO `orders` (`id`, `customer_id`, `state`, `placed`, `paid`, `note`) VALUES (1,1,2,'2024-01-31 23:59:59','2024-02-01 08:00:00','ring twice\nthen wait');
INSERT INTO `orders` (`id`, `customer_id`, `state`, `placed`, `paid`, `note`) VALUES (2,2,0,'2024-02-29 12:00:00',NULL,NULL);
INSERT INTO `orders` (`id`, `customer_id`, `state`, `placed`, `paid`, `note`) VALUES (3,NULL,1,'2024-03-01 00:00:00',NULL,'');
/*!40000 ALTER TABLE `orders` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Dumping events for database 'shop'
--

--
-- Dumping routines for database 'shop'
--
/*!50003 SET @saved_sql_mode       = @@sql_mode */ ;
/*!50003 SET sql_mode              = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION' */ ;
/*!50003 DROP PROCEDURE IF EXISTS `close_orders` */;
/*!50003 SET @saved_cs_client      = @@character_set_client */ ;
/*!50003 SET @saved_cs_results     = @@character_set_results */ ;
/*!50003 SET @saved_col_connection = @@collation_connection */ ;
/*!50003 SET character_set_client  = utf8mb4 */ ;
/*!50003 SET character_set_results = utf8mb4 */ ;
/*!50003 SET collation_connection  = utf8mb4_general_ci */ ;
DELIMITER ;;
CREATE DEFINER=`root`@`localhost` PROCEDURE `close_orders`()
BEGIN UPDATE orders SET state = 2 WHERE paid IS NOT NULL; END
;;
DELIMITER ;
/*!50003 SET sql_mode              = @saved_sql_mode */ ;
/*!50003 SET character_set_client  = @saved_cs_client */ ;
/*!50003 SET character_set_results = @saved_cs_results */ ;
/*!50003 SET collation_connection  = @saved_col_connection */ ;

--
-- Current Database: `shop`
--

USE `shop`;

--
-- Final view structure for view `open_orders`
--

/*!50001 DROP VIEW IF EXISTS `open_orders`*/;
/*!50001 SET @saved_cs_client          = @@character_set_client */;
/*!50001 SET @saved_cs_results         = @@character_set_results */;
/*!50001 SET @saved_col_connection     = @@collation_connection */;
/*!50001 SET character_set_client      = utf8mb4 */;
/*!50001 SET character_set_results     = utf8mb4 */;
/*!50001 SET collation_connection      = utf8mb4_general_ci */;
/*!50001 CREATE ALGORITHM=UNDEFINED */
/*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */
/*!50001 VIEW `open_orders` AS select `o`.`id` AS `id`,`c`.`email` AS `email` from (`orders` `o` left join `customers` `c` on(`c`.`id` = `o`.`customer_id`)) where `o`.`state` = 0 */;
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
