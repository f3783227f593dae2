"""Pairs with two related words swapped or replaced (Sanchez Carmona et al. 2018)."""
