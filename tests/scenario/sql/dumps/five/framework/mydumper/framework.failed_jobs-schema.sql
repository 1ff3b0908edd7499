/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;

/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE `failed_jobs` (
  `uuid` binary(16) NOT NULL,
  `queue` text NOT NULL,
  `failed_at` timestamp NOT NULL DEFAULT current_timestamp(),
  UNIQUE KEY `uuid` (`uuid`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
