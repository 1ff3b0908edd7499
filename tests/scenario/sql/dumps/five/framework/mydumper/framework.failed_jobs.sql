/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40103 SET TIME_ZONE='+00:00' */;
INSERT INTO `failed_jobs` VALUES
("\0\"3DUfwˆ™ª»ÌÝîÿ","default","2024-05-05 05:05:05"),
("\'\'\\\\\n\n\r\r\Z\Z\0\0\0\0\0\0","high","2024-05-05 05:05:06");
