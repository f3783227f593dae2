"""Files: tables, layouts of NLI data, word vectors, published results."""
