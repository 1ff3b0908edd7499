/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40103 SET TIME_ZONE='+00:00' */;
INSERT INTO `films` VALUES
(1,"Dust; and \"Glory\"","A man\'s search for C:\\temp",2006,1,6,0.99,86,"PG","Trailers,Deleted Scenes","2024-02-15 05:03:42"),
(2,"L\'été",NULL,NULL,2,3,4.99,NULL,"G",NULL,"2024-02-15 05:03:42"),
(1000,"雨","",2155,9,7,99.99,65535,NULL,"","2024-02-15 05:03:42");
