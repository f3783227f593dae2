"""Rain in two cities says nothing of a third."""

import random
from itertools import permutations

CITIES = ("Paris", "Lima", "Oslo", "Cairo", "Quito", "Hanoi")


def suite(seed=0, n=30, weather="rain"):
    """Weather in two cities, and in a third."""
    rows = []
    for here, there, elsewhere in random.Random(seed).sample(list(permutations(CITIES, 3)), n):
        asked, label = (there, "entailment") if len(rows) % 2 else (elsewhere, "neutral")
        rows.append(
            {
                "premise": f"There was {weather} in {here} and in {there}.",
                "hypothesis": f"There was {weather} in {asked}.",
                "label": label,
                "certainty": "logical",
                "city": asked,
            }
        )
    return rows
