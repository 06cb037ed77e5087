//! Clusters for tests: embedded and real; polling assertions; the differential suite.
