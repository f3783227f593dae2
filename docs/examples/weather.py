import random
from itertools import permutations

CITIES = ("Paris", "Lima", "Oslo", "Cairo", "Quito", "Hanoi", "Accra", "Delhi")


def suite(seed=0, n=100, weather="rain"):
    """Weather in two cities, and in a third."""
    draw = random.Random(seed)
    rows = []
    for here, there in draw.sample(list(permutations(CITIES, 2)), n // 2):
        elsewhere = draw.choice([city for city in CITIES if city not in (here, there)])
        for city, label in ((there, "entailment"), (elsewhere, "neutral")):
            row = {"premise": f"There was {weather} in {here} and in {there}."}
            row |= {"hypothesis": f"There was {weather} in {city}.", "label": label, "certainty": "logical"}
            rows.append(row | {"city": city})
    return rows
