"""Challenge suites: the catalogue, the generators of each family, files and checks."""
