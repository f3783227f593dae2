"""Suites of word pairs swapped between premise and hypothesis (Sanchez Carmona et al. 2018)."""
