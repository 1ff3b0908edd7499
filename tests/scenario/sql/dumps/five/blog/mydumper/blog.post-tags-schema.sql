/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;

/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE `post-tags` (
  `post` int(11) NOT NULL,
  `the tag` varchar(40) NOT NULL,
  PRIMARY KEY (`post`,`the tag`),
  KEY `k` (`the tag`(5))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
