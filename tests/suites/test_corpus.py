from __future__ import annotations

import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.io.wordlists import starter_pairs


def test_n_draws_source_pairs_by_seed_and_keeps_their_order() -> None:
    first = api.generate("stress/negation", n=30).frame.collect()
    again = api.generate("stress/negation", n=30, seed=1).frame.collect()
    assert first.height == again.height == 30
    assert set(first["base_id"]) != set(again["base_id"])
    order = {name: place for place, name in enumerate(starter_pairs().frame.collect()["id"])}
    assert [order[name] for name in first["base_id"]] == sorted(order[name] for name in first["base_id"])


def test_a_larger_sample_holds_the_smaller_one() -> None:
    small, large = (set(api.generate("stress/negation", n=n).frame.collect()["base_id"]) for n in (20, 60))
    assert small < large


def test_more_pairs_than_there_are_is_an_error_that_names_the_number() -> None:
    rows = starter_pairs().card.rows
    with pytest.raises(AcidtestError, match=rf"'starter' has only {rows:,}; ask for at most that many \(-n {rows}\)"):
        api.generate("stress/negation", n=10_000)
    assert api.generate("stress/negation", n=10_000, at_most=True).card.rows == rows


def test_a_suite_made_of_templates_takes_no_corpus() -> None:
    with pytest.raises(AcidtestError, match="suite 'hans' is made of templates and takes no --from"):
        api.generate("hans", source=starter_pairs())
