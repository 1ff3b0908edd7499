/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40103 SET TIME_ZONE='+00:00' */;
INSERT INTO `articles` VALUES
("A0000001","100% wool; blue",19.90,0.190,0.25,"other thing","new,sale","‰PNG\r\n\Z\n\0ÿ"),
("A0000002","1001 nights",9.99,0.070,NULL,"book","",NULL),
("b0000003","ãƒœãƒ¼ãƒ«",5.00,0.190,0.0000001,"toy","last one","");
