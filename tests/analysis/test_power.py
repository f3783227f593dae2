"""The smallest detectable difference against published formulas and simulated tests."""

import math

import numpy as np
import pytest
from scipy import stats

from acidtest.analysis.power import smallest_detectable_difference, smallest_detectable_differences
from acidtest.analysis.resampling import generator
from acidtest.analysis.significance import mcnemar

Z_ALPHA, Z_POWER = stats.norm.ppf([0.975, 0.8])


def test_unpaired_is_the_inverse_of_the_usual_sample_size():
    # R's help page: power.prop.test(p1 = .50, p2 = .75, power = .90) needs n = 76.7 in each group.
    assert smallest_detectable_difference(76.7, paired=False, power=0.9) == pytest.approx(0.25, abs=2e-4)


@pytest.mark.parametrize("n", [100, 300, 30_000])
@pytest.mark.parametrize("discordance", [0.1, 0.4])
def test_paired_inverts_connors_formula(n, discordance):
    found = smallest_detectable_difference(n, discordance=discordance)
    # Connor (1987): n = (z_alpha sqrt(psi) + z_power sqrt(psi - d^2))^2 / d^2
    needed = (Z_ALPHA * math.sqrt(discordance) + Z_POWER * math.sqrt(discordance - found**2)) ** 2 / found**2
    assert needed == pytest.approx(n)


def test_models_that_err_independently_are_the_default():
    # At 0.5 the share of rows that only one gets right is 0.5, whatever the other's accuracy.
    assert smallest_detectable_difference(500) == pytest.approx(smallest_detectable_difference(500, discordance=0.5))
    found = smallest_detectable_difference(500, rate=0.9)
    other = 0.9 - found
    discordance = 0.9 * (1 - other) + other * 0.1
    assert found == pytest.approx(smallest_detectable_difference(500, rate=0.9, discordance=discordance))


def test_a_rate_and_its_complement_are_alike():
    for paired in (True, False):
        high, low = (smallest_detectable_difference(400, rate=rate, paired=paired) for rate in (0.9, 0.1))
        assert high == pytest.approx(low)


def test_more_rows_show_smaller_differences_and_pairs_smaller_still():
    ns = np.array([100, 1_000, 10_000])
    paired = smallest_detectable_differences(ns, discordance=0.1)
    unpaired = smallest_detectable_differences(ns, paired=False)
    assert (np.diff(paired) < 0).all()
    assert (paired < unpaired).all()
    assert paired.tolist() == [smallest_detectable_difference(n, discordance=0.1) for n in (100, 1_000, 10_000)]


@pytest.mark.parametrize("n", [0, 1, 2])
def test_too_few_rows_show_nothing(n):
    assert math.isnan(smallest_detectable_difference(n))
    assert math.isnan(smallest_detectable_difference(n, paired=False))


def test_no_difference_beyond_the_discordance_is_promised():
    # 30 rows of which 5 % are discordant: one or two rows, which no test can tell from chance.
    assert math.isnan(smallest_detectable_difference(30, discordance=0.05))


def test_a_perfect_model_can_still_be_compared():
    # All rows that differ speak for it: d = psi, so sqrt(n) d = z_alpha sqrt(d) + z_power sqrt(d - d^2).
    found = smallest_detectable_difference(1_000, rate=1.0)
    reached = Z_ALPHA * math.sqrt(found) + Z_POWER * math.sqrt(found - found**2)
    assert math.sqrt(1_000) * found == pytest.approx(reached)


def test_the_difference_is_found_as_often_as_promised():
    rng = generator(1)
    n, discordance = 400, 0.2
    found = smallest_detectable_difference(n, discordance=discordance)
    shares = [1 - discordance, (discordance + found) / 2, (discordance - found) / 2]
    rejected = []
    for _ in range(1_500):
        outcome = rng.choice(3, size=n, p=shares)
        rejected.append(mcnemar(outcome == 1, outcome == 2, mid_p=True).p <= 0.05)
    # 1,500 draws: the standard error of 0.8 is 0.010.
    assert np.mean(rejected) == pytest.approx(0.8, abs=0.035)


def test_no_difference_is_found_rarely():
    rng = generator(2)
    rejected = []
    for _ in range(1_500):
        outcome = rng.choice(3, size=400, p=[0.8, 0.1, 0.1])
        rejected.append(mcnemar(outcome == 1, outcome == 2).p <= 0.05)
    assert np.mean(rejected) <= 0.06
