/*!40101 SET NAMES binary*/;
CREATE TABLE `open_orders`(
`id` int,
`email` int
)ENGINE=MyISAM;
