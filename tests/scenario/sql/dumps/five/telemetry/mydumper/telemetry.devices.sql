/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40103 SET TIME_ZONE='+00:00' */;
INSERT INTO `devices` VALUES
("\0\0\0\0\0\0","","[]","\0"),
("\n\r","roof","{\"x\": 1.50, \"y\": [1, null, \"a\\\"b\"]}",""),
("\\\'\"\n\r\Z","quote bytes",NULL,"\0\0");
