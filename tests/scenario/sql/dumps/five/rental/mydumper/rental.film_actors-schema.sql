/*!40101 SET NAMES binary*/;
CREATE TABLE `film_actors`(
`title` int,
`last` int
)ENGINE=MyISAM;
