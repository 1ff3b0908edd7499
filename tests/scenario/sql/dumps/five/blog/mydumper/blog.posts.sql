/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40103 SET TIME_ZONE='+00:00' */;
INSERT INTO `posts` VALUES
(1,1,"first-post","First","Hello, world; it\'s \"me\".\n\n-- not a comment\n/* nor this */ # or this","out","2022-05-06 07:08:09.123","2022-05-06 07:08:09.000001"),
(2,2,"Über","Ü","DELIMITER //\nSOURCE other.sql\nUSE blog;\n","draft","2022-05-07 00:00:00.000",NULL),
(10,1,"emoji","🦀","🦀 \\ \' \" 	 \Z","out","2023-01-01 00:00:00.500","2023-01-01 00:00:00.500000");
