SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO';
CREATE DATABASE `warehouse` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci */;
use `warehouse`;
/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;

/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE `children` (
  `id` int(11) NOT NULL,
  `parent_id` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `fk_parent` (`parent_id`),
  CONSTRAINT `fk_parent` FOREIGN KEY (`parent_id`) REFERENCES `parents` (`id`) ON DELETE CASCADE ON UPDATE SET NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;

/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE `empty_table` (
  `id` int(11) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;

/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE `every_type` (
  `id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `c_tinyint` tinyint(4) DEFAULT NULL,
  `c_tinyint_u` tinyint(3) unsigned DEFAULT 7,
  `c_bool` tinyint(1) DEFAULT 1,
  `c_smallint` smallint(6) DEFAULT NULL,
  `c_mediumint` mediumint(9) DEFAULT NULL,
  `c_int` int(10) unsigned zerofill DEFAULT NULL,
  `c_bigint` bigint(20) DEFAULT NULL,
  `c_bigint_u` bigint(20) unsigned DEFAULT NULL,
  `c_float` float DEFAULT NULL,
  `c_double` double DEFAULT NULL,
  `c_decimal` decimal(30,10) DEFAULT 0.5000000000,
  `c_bit` bit(10) DEFAULT b'101',
  `c_char` char(5) DEFAULT 'a b',
  `c_varchar` varchar(100) NOT NULL DEFAULT 'it''s',
  `c_binary` binary(4) DEFAULT NULL,
  `c_varbinary` varbinary(20) DEFAULT NULL,
  `c_tinytext` tinytext DEFAULT NULL,
  `c_text` text DEFAULT NULL,
  `c_mediumtext` mediumtext DEFAULT NULL,
  `c_longtext` longtext DEFAULT NULL,
  `c_tinyblob` tinyblob DEFAULT NULL,
  `c_blob` blob DEFAULT NULL,
  `c_mediumblob` mediumblob DEFAULT NULL,
  `c_longblob` longblob DEFAULT NULL,
  `c_date` date DEFAULT '2020-02-29',
  `c_time` time(3) DEFAULT NULL,
  `c_datetime` datetime(6) DEFAULT current_timestamp(6) ON UPDATE current_timestamp(6),
  `c_timestamp` timestamp NOT NULL DEFAULT current_timestamp() ON UPDATE current_timestamp(),
  `c_year` year(4) DEFAULT NULL,
  `c_enum` enum('red','it''s','blau,grÃ¼n') DEFAULT 'red',
  `c_set` set('x','y','z') DEFAULT NULL,
  `c_json` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`c_json`)),
  PRIMARY KEY (`id`),
  UNIQUE KEY `u_varchar` (`c_varchar`),
  KEY `k_text` (`c_text`(20)),
  KEY `k_both` (`c_date`,`c_enum`),
  FULLTEXT KEY `words` (`c_text`),
  CONSTRAINT `positive` CHECK (`c_smallint` > -1000)
) ENGINE=InnoDB AUTO_INCREMENT=4 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci COMMENT='one column of each type; with a ''quote''';
/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;

/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE `hashed` (
  `id` int(11) NOT NULL,
  `t` text DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci
 PARTITION BY HASH (`id`)
PARTITIONS 3;
/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;

/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE `no_key` (
  `a` int(11) DEFAULT NULL,
  `b` varchar(20) DEFAULT NULL,
  KEY `a` (`a`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;

/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE `odd name` (
  `select` int(11) NOT NULL,
  `a``b` varchar(5) DEFAULT '%',
  PRIMARY KEY (`select`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;

/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE `parents` (
  `id` bigint(20) NOT NULL,
  `name` varchar(30) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `name` (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;

/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE `sold` (
  `id` int(11) NOT NULL,
  `day` date NOT NULL,
  `amount` decimal(8,2) DEFAULT NULL,
  PRIMARY KEY (`id`,`day`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci
 PARTITION BY RANGE  COLUMNS(`day`)
(PARTITION `y2020` VALUES LESS THAN ('2021-01-01') ENGINE = InnoDB,
 PARTITION `later` VALUES LESS THAN (MAXVALUE) ENGINE = InnoDB);
/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;

/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE `zero_ids` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `v` varchar(10) DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=6 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40103 SET TIME_ZONE='+00:00' */;
INSERT INTO `children` VALUES
(12,NULL),
(10,1),
(11,2);
/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40103 SET TIME_ZONE='+00:00' */;
INSERT INTO `every_type` VALUES
(1,-128,7,0,-5,8388607,0000000042,-9223372036854775808,18446744073709551615,1.5,2.2250738585072014e-308,12345678901234567890.0123456789,"à","ab","quote \' and \"double\" and \\ back","\0ÿ\Z\0","\0\n\r\Z\"\'\\ÿ","tab	","line one\nline two\r\n; -- not a comment\nDELIMITER //","/* not one */ # neither","grÃ¼n æ—¥æœ¬ ðŸ¦€","ÿ","\0\'\0\"\0\\\0\r\n\Z","text in a blob; \'","þþþþþþþþþþþþþþþþþþþþþþþþþþþþþþ","1000-01-01","-838:59:59.000","9999-12-31 23:59:59.999999","2038-01-19 03:14:07",2155,"blau,grÃ¼n","x,z","{\"a\": [1, \"b\\\"c\", null]}"),
(2,NULL,7,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,"second",NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,"1970-01-01 00:00:01",NULL,NULL,NULL,NULL),
(3,NULL,7,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0.5000000000,"\0","a b","third; row",NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,"2020-02-29",NULL,"2021-06-15 12:00:00.500000","2021-06-15 12:00:00",NULL,"red",NULL,NULL);
/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40103 SET TIME_ZONE='+00:00' */;
INSERT INTO `hashed` VALUES
(3,"c"),
(1,"a"),
(2,"b");
/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40103 SET TIME_ZONE='+00:00' */;
INSERT INTO `no_key` VALUES
(1,"x"),
(1,"x"),
(NULL,NULL);
/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40103 SET TIME_ZONE='+00:00' */;
INSERT INTO `odd name` VALUES
(1,"x");
/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40103 SET TIME_ZONE='+00:00' */;
INSERT INTO `parents` VALUES
(1,"one"),
(2,"two");
/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40103 SET TIME_ZONE='+00:00' */;
INSERT INTO `sold` VALUES
(1,"2020-03-01",10.50),
(2,"2022-03-01",7.00);
/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40103 SET TIME_ZONE='+00:00' */;
INSERT INTO `zero_ids` VALUES
(0,"zero"),
(5,"five");
/*!40101 SET NAMES binary*/;
DROP TABLE IF EXISTS `dear`;
DROP VIEW IF EXISTS `dear`;
SET @PREV_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT;
SET @PREV_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS;
SET @PREV_COLLATION_CONNECTION=@@COLLATION_CONNECTION;
SET character_set_client = utf8mb4;
SET character_set_results = utf8mb4;
SET collation_connection = utf8mb4_general_ci;
CREATE ALGORITHM=MERGE DEFINER=`root`@`localhost` SQL SECURITY INVOKER VIEW `dear` AS select `sold`.`id` AS `nr`,`sold`.`amount` AS `price` from `sold` where `sold`.`amount` > 8 WITH CASCADED CHECK OPTION;
SET character_set_client = @PREV_CHARACTER_SET_CLIENT;
SET character_set_results = @PREV_CHARACTER_SET_RESULTS;
SET collation_connection = @PREV_COLLATION_CONNECTION;
/*!40101 SET NAMES binary*/;
DROP TABLE IF EXISTS `names`;
DROP VIEW IF EXISTS `names`;
SET @PREV_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT;
SET @PREV_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS;
SET @PREV_COLLATION_CONNECTION=@@COLLATION_CONNECTION;
SET character_set_client = utf8mb4;
SET character_set_results = utf8mb4;
SET collation_connection = utf8mb4_general_ci;
CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY DEFINER VIEW `names` AS select `p`.`name` AS `name`,`c`.`id` AS `child` from (`parents` `p` left join `children` `c` on(`c`.`parent_id` = `p`.`id`));
SET character_set_client = @PREV_CHARACTER_SET_CLIENT;
SET character_set_results = @PREV_CHARACTER_SET_RESULTS;
SET collation_connection = @PREV_COLLATION_CONNECTION;
