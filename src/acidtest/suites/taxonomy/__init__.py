"""Pairs annotated with categories of reasoning (Joshi et al. 2020): the published ones, and anybody's own."""
