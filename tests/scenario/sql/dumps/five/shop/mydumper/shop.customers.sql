/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40103 SET TIME_ZONE='+00:00' */;
INSERT INTO `customers` VALUES
(1,"ann@example.com","Ann O\'Hara",1,"2019-02-28"),
(2,"bo@example.com","Bø \"B\" Ek",0,"2020-02-29"),
(5,"c@example.com","back\\slash",0,"2021-12-31");
