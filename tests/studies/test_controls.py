"""Changed pairs beside the untouched ones they were made from."""

import numpy as np

from acidtest.studies.scoring.controls import Pairing


def test_the_test_against_the_control_agrees_with_the_interval_beside_it() -> None:
    # One stratum gains 100 of 100 rows, the other loses 90 of 100: McNemar sees 100 against 90 (p = 0.52), while within
    # strata the difference of 5 points has a standard error of sqrt(100 * 0.9 * 0.1) / 200 = 1.5 points.
    places = np.arange(200, dtype=np.int32)
    strata = (places >= 100).astype(np.int8)
    before = strata == 1
    after = np.where(strata == 0, True, places >= 190)
    found = Pairing(places, places, groups=places, strata=strata, alike=True).rate(after, before)
    assert found.test == "paired permutation within strata"
    assert 0.02 < found.difference.value - found.difference.low < 0.035
    assert found.difference.low > 0
    assert found.p < 0.01


def test_rows_of_one_stratum_are_tested_as_before() -> None:
    places = np.arange(20, dtype=np.int32)
    none = np.zeros(20, dtype=np.int8)
    found = Pairing(places, places, groups=places, strata=none, alike=True).rate(places < 15, places < 10)
    assert found.test.startswith("McNemar")
    # Five rows gained, none lost: 2 * (1/2) ** 5.
    assert found.p == 2 * 0.5**5


def test_the_changed_rate_is_of_the_compared_rows_where_some_have_no_control() -> None:
    # Of twenty changed rows the last ten have no control; they are all right, of the others five.
    places = np.arange(10, dtype=np.int32)
    after, before = np.arange(20) >= 5, np.arange(10) < 8
    found = Pairing(places, places, groups=places, strata=np.zeros(10, dtype=np.int8), alike=True).rate(after, before)
    assert found.changed is not None
    assert (found.control.value, found.changed.value, found.difference.value) == (0.8, 0.5, -0.3)
    whole = Pairing(places, places, groups=places, strata=np.zeros(10, dtype=np.int8), alike=True)
    assert whole.rate(after[:10], before).changed is None
