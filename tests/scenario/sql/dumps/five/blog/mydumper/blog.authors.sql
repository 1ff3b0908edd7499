/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40103 SET TIME_ZONE='+00:00' */;
INSERT INTO `authors` VALUES
(1,"mia","\0	\n\r",1988),
(2,"ZoÃ«","ÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿ",NULL);
