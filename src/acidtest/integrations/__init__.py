"""Where people already work: pytest, trainers, evaluation harnesses, model cards and trackers.

Every module is thin and imports its host only when it is used.
"""
