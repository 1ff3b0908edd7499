/*!40101 SET NAMES binary*/;
CREATE TABLE `short_films`(
`title` int
)ENGINE=MyISAM;
