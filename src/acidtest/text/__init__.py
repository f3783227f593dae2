"""English: tokens, tags, WordNet, inflection, trees, templates, heuristics, polarity, categories of words."""
