import pytest

from acidtest.core.errors import AcidtestError
from acidtest.core.model import model_from_spec

PREMISE = "The judge near the actors danced."
PAIRS = [
    (PREMISE, "The actors danced."),
    (PREMISE, "The judge danced."),
    (PREMISE, "The judge slept."),
    (PREMISE, "danced the judge"),
    (PREMISE, "..."),
    ("He can't swim", "He can"),
]


def labels(spec: str) -> list[int]:
    return model_from_spec(spec).predict(*map(list, zip(*PAIRS, strict=True))).argmax(axis=1).tolist()


def test_overlap_says_entailment_when_all_words_are_in_the_premise() -> None:
    assert labels("baseline:overlap") == [0, 0, 1, 0, 1, 1]


def test_subsequence_says_entailment_when_the_words_stand_together_in_order() -> None:
    assert labels("baseline:subsequence") == [0, 1, 1, 1, 1, 1]


def test_majority_says_one_label() -> None:
    assert labels("baseline:majority") == [0] * 6
    assert labels("baseline:majority:contradiction") == [2] * 6


def test_random_is_uniform_and_depends_on_pair_and_seed_only() -> None:
    model = model_from_spec("baseline:random")
    premises = [f"premise {number}" for number in range(9000)]
    drawn = model.predict(premises, ["h"] * 9000).argmax(axis=1)
    assert model.predict(premises[5000:5001], ["h"]).argmax(axis=1)[0] == drawn[5000]
    # Binomial(9000, 1/3): mean 3000, standard deviation 45.
    assert all(abs((drawn == label).sum() - 3000) < 4 * 45 for label in range(3))
    other = model_from_spec("baseline:random:1").predict(premises, ["h"] * 9000).argmax(axis=1)
    assert 0.25 < (other == drawn).mean() < 0.42


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("baseline:overlapp", r"no baseline called 'overlapp'; did you mean 'overlap'\?"),
        ("baseline:majority:yes", "the label is entailment, neutral or contradiction"),
        ("baseline:random:x", "the seed is a whole number"),
        ("baseline:overlap:3", "takes no argument"),
        ("basline:overlap", r"no kind of model called 'basline'; did you mean 'baseline'\?"),
    ],
)
def test_a_mistaken_spec_is_explained(spec: str, message: str) -> None:
    with pytest.raises(AcidtestError, match=message):
        model_from_spec(spec)
