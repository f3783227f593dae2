"""Syntactic heuristics: lexical overlap, subsequence, constituent (McCoy et al. 2019)."""
