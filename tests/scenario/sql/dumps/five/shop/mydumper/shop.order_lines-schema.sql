/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;

/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE `order_lines` (
  `order_id` bigint(20) NOT NULL,
  `line` smallint(6) NOT NULL,
  `sku` char(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `amount` int(11) NOT NULL DEFAULT 1,
  `price` decimal(9,2) NOT NULL,
  PRIMARY KEY (`order_id`,`line`),
  KEY `of_article` (`sku`),
  CONSTRAINT `of_article` FOREIGN KEY (`sku`) REFERENCES `articles` (`sku`),
  CONSTRAINT `of_order` FOREIGN KEY (`order_id`) REFERENCES `orders` (`id`) ON DELETE CASCADE,
  CONSTRAINT `some_amount` CHECK (`amount` > 0)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
