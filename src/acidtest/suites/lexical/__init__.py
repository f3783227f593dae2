"""One-word replacements whose label a word list knows (Glockner et al. 2018)."""
