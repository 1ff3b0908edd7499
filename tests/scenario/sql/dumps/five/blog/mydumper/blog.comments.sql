/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40103 SET TIME_ZONE='+00:00' */;
INSERT INTO `comments` VALUES
(1,"2022-06-01 10:00:00","nice","\0\0",3),
(1,"2022-06-01 10:00:00","nice","\0\0",3),
(2,"2022-06-02 10:00:00","a\0b",NULL,-1);
