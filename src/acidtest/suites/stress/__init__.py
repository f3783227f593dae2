"""Stress tests after Naik et al. (2018)."""

CITATION = (
    "Naik, Ravichander, Sadeh, Rose and Neubig (2018). Stress Test Evaluation for Natural Language Inference. COLING."
)
