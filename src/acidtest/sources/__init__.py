"""Raw material for suites: corpora, trees, word lists; knows nothing of suites' making."""
