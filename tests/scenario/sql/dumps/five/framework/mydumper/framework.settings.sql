/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40103 SET TIME_ZONE='+00:00' */;
INSERT INTO `settings` VALUES
("empty",NULL,NULL),
("theme","{\"dark\": true, \"path\": \"C:\\\\x\"}","---\n:a: 1\n");
