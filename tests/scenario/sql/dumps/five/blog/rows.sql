/*M!999999\- enable the sandbox mode */ 
-- MariaDB dump 10.19  Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: 127.0.0.1    Database: blog
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
-- Current Database: `blog`
--

CREATE DATABASE /*!32312 IF NOT EXISTS*/ `blog` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci */;

USE `blog`;

--
-- Table structure for table `authors`
--

DROP TABLE IF EXISTS `authors`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `authors` (
  `id` smallint(6) NOT NULL AUTO_INCREMENT,
  `login` varchar(30) NOT NULL,
  `secret` binary(16) NOT NULL,
  `born` year(4) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `login` (`login`)
) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `authors`
--

LOCK TABLES `authors` WRITE;
/*!40000 ALTER TABLE `authors` DISABLE KEYS */;
INSERT INTO `authors` (`id`, `login`, `secret`, `born`) VALUES (1,'mia',0x000102030405060708090A0B0C0D0E0F,1988);
INSERT INTO `authors` (`id`, `login`, `secret`, `born`) VALUES (2,'Zoë',0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF,NULL);
/*!40000 ALTER TABLE `authors` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `comments`
--

DROP TABLE IF EXISTS `comments`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `comments` (
  `post` int(11) NOT NULL,
  `at` datetime NOT NULL,
  `text` varchar(2000) NOT NULL,
  `address` varbinary(16) DEFAULT NULL,
  `votes` int(11) NOT NULL DEFAULT 0
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `comments`
--

LOCK TABLES `comments` WRITE;
/*!40000 ALTER TABLE `comments` DISABLE KEYS */;
INSERT INTO `comments` (`post`, `at`, `text`, `address`, `votes`) VALUES (1,'2022-06-01 10:00:00','nice',0x7F000001,3);
INSERT INTO `comments` (`post`, `at`, `text`, `address`, `votes`) VALUES (1,'2022-06-01 10:00:00','nice',0x7F000001,3);
INSERT INTO `comments` (`post`, `at`, `text`, `address`, `votes`) VALUES (2,'2022-06-02 10:00:00','a\0b',NULL,-1);
/*!40000 ALTER TABLE `comments` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `post-tags`
--

DROP TABLE IF EXISTS `post-tags`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `post-tags` (
  `post` int(11) NOT NULL,
  `the tag` varchar(40) NOT NULL,
  PRIMARY KEY (`post`,`the tag`),
  KEY `k` (`the tag`(5))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `post-tags`
--

LOCK TABLES `post-tags` WRITE;
/*!40000 ALTER TABLE `post-tags` DISABLE KEYS */;
INSERT INTO `post-tags` (`post`, `the tag`) VALUES (1,'sql');
INSERT INTO `post-tags` (`post`, `the tag`) VALUES (2,'sql');
INSERT INTO `post-tags` (`post`, `the tag`) VALUES (10,'');
/*!40000 ALTER TABLE `post-tags` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `posts`
--

DROP TABLE IF EXISTS `posts`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `posts` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `author` smallint(6) NOT NULL,
  `slug` varchar(90) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `title` tinytext NOT NULL,
  `body` mediumtext NOT NULL,
  `state` enum('draft','out') DEFAULT 'draft',
  `written` datetime(3) NOT NULL,
  `changed` timestamp(6) NULL DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `by_slug` (`slug`),
  KEY `by_author` (`author`),
  CONSTRAINT `written_by` FOREIGN KEY (`author`) REFERENCES `authors` (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=11 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `posts`
--

LOCK TABLES `posts` WRITE;
/*!40000 ALTER TABLE `posts` DISABLE KEYS */;
INSERT INTO `posts` (`id`, `author`, `slug`, `title`, `body`, `state`, `written`, `changed`) VALUES (1,1,'first-post','First','Hello, world; it\'s \"me\".\n\n-- not a comment\n/* nor this */ # or this','out','2022-05-06 07:08:09.123','2022-05-06 07:08:09.000001');
INSERT INTO `posts` (`id`, `author`, `slug`, `title`, `body`, `state`, `written`, `changed`) VALUES (2,2,'Über','Ü','DELIMITER //\nSOURCE other.sql\nUSE blog;\n','draft','2022-05-07 00:00:00.000',NULL);
INSERT INTO `posts` (`id`, `author`, `slug`, `title`, `body`, `state`, `written`, `changed`) VALUES (10,1,'emoji','🦀','🦀 \\ \' \" 	 \Z','out','2023-01-01 00:00:00.500','2023-01-01 00:00:00.500000');
/*!40000 ALTER TABLE `posts` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `tags`
--

DROP TABLE IF EXISTS `tags`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `tags` (
  `name` varchar(40) NOT NULL,
  `posts` int(11) NOT NULL DEFAULT 0,
  PRIMARY KEY (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `tags`
--

LOCK TABLES `tags` WRITE;
/*!40000 ALTER TABLE `tags` DISABLE KEYS */;
INSERT INTO `tags` (`name`, `posts`) VALUES ('',1);
INSERT INTO `tags` (`name`, `posts`) VALUES ('sql',2);
INSERT INTO `tags` (`name`, `posts`) VALUES ('Straße',0);
/*!40000 ALTER TABLE `tags` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Dumping events for database 'blog'
--

--
-- Dumping routines for database 'blog'
--
/*!50003 SET @saved_sql_mode       = @@sql_mode */ ;
/*!50003 SET sql_mode              = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION' */ ;
/*!50003 DROP FUNCTION IF EXISTS `words_of` */;
/*!50003 SET @saved_cs_client      = @@character_set_client */ ;
/*!50003 SET @saved_cs_results     = @@character_set_results */ ;
/*!50003 SET @saved_col_connection = @@collation_connection */ ;
/*!50003 SET character_set_client  = utf8mb4 */ ;
/*!50003 SET character_set_results = utf8mb4 */ ;
/*!50003 SET collation_connection  = utf8mb4_general_ci */ ;
DELIMITER ;;
CREATE DEFINER=`root`@`localhost` FUNCTION `words_of`(t TEXT) RETURNS int(11)
    DETERMINISTIC
BEGIN RETURN length(t) - length(replace(t, ' ', '')) + 1; END
;;
DELIMITER ;
/*!50003 SET sql_mode              = @saved_sql_mode */ ;
/*!50003 SET character_set_client  = @saved_cs_client */ ;
/*!50003 SET character_set_results = @saved_cs_results */ ;
/*!50003 SET collation_connection  = @saved_col_connection */ ;
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;

/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;
/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;
/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
/*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;
/*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;
/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;

-- Dump completed on 2026-11-27  2:51:03
