/*M!999999\- enable the sandbox mode */ 

CREATE DATABASE /*!32312 IF NOT EXISTS*/ `blog` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci */;

USE `blog`;
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
INSERT INTO `authors` VALUES
(1,'mia','\0	\n\r',1988),
(2,'ZoÃ«','ÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿ',NULL);
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
INSERT INTO `comments` VALUES
(1,'2022-06-01 10:00:00','nice','\0\0',3),
(1,'2022-06-01 10:00:00','nice','\0\0',3),
(2,'2022-06-02 10:00:00','a\0b',NULL,-1);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `post-tags` (
  `post` int(11) NOT NULL,
  `the tag` varchar(40) NOT NULL,
  PRIMARY KEY (`post`,`the tag`),
  KEY `k` (`the tag`(5))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `post-tags` VALUES
(1,'sql'),
(2,'sql'),
(10,'');
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
INSERT INTO `posts` VALUES
(1,1,'first-post','First','Hello, world; it\'s \"me\".\n\n-- not a comment\n/* nor this */ # or this','out','2022-05-06 07:08:09.123','2022-05-06 07:08:09.000001'),
(2,2,'Ãœber','Ãœ','DELIMITER //\nSOURCE other.sql\nUSE blog;\n','draft','2022-05-07 00:00:00.000',NULL),
(10,1,'emoji','ðŸ¦€','ðŸ¦€ \\ \' \" 	 \Z','out','2023-01-01 00:00:00.500','2023-01-01 00:00:00.500000');
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `tags` (
  `name` varchar(40) NOT NULL,
  `posts` int(11) NOT NULL DEFAULT 0,
  PRIMARY KEY (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `tags` VALUES
('',1),
('sql',2),
('StraÃŸe',0);
/*!50003 SET @saved_sql_mode       = @@sql_mode */ ;
/*!50003 SET sql_mode              = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION' */ ;
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
