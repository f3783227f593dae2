"""Policies: what a file may say, and what is wrong with one, with its line."""

from pathlib import Path

import numpy as np
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError, FileError
from acidtest.stats.noninferiority import effective_rows, pairs_needed
from acidtest.studies.gate.policy import (
    LEAST_ROWS,
    CueRule,
    EditRule,
    FloorRule,
    GatePolicy,
    PolicyDefaults,
    SliceRule,
    default_margin,
    read_policy,
)
from acidtest.suites.sample import limit_rows

WHOLE = """
[defaults]
margin = 1.5
confidence = 0.9
undecided = "fail"
allow_missing_rows = true

[[slices]]
match = "hans:label=*"
margin = 3

[[slices]]
match = "hans:subcase=*"
tier = "fail-only"

[[floors]]
match = "hans:label=non-entailment"
at_least = 60

[[edits]]
edit = "number"
at_most = 15

[[cues]]
cue = "overlap"
at_most = 20

[runs]
baseline = "release.acidtest"
suites = ["hans"]
limit = 100
"""


def read(tmp_path: Path, text: str) -> GatePolicy:
    path = tmp_path / "gate.toml"
    path.write_text(text, encoding="utf-8")
    return read_policy(path)


def test_a_file_says_everything_a_policy_has(tmp_path):
    policy = read(tmp_path, WHOLE)
    assert policy.defaults == PolicyDefaults(1.5, 0.9, "fail", allow_missing_rows=True)
    assert policy.slices == (SliceRule("hans:label=*", "required", 3), SliceRule("hans:subcase=*", "fail-only"))
    assert policy.floors == (FloorRule("hans:label=non-entailment", 60, "required"),)
    assert policy.edits == (EditRule("number", 15, "required"),)
    assert policy.cues == (CueRule("overlap", 20, "advisory"),)
    assert (policy.runs.baseline, policy.runs.suites, policy.runs.limit) == ("release.acidtest", ("hans",), 100)
    assert policy.describe() == str(tmp_path / "gate.toml")


def test_an_empty_file_is_the_default_policy(tmp_path):
    assert read(tmp_path, "").slices == GatePolicy().slices == ()
    assert "105/√n points, between 2 and 10" in GatePolicy().describe()
    assert "3 points" in GatePolicy().with_margin(3).describe()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[defaults]\nmargn = 2\n", r"gate\.toml:2: no key called 'margn'; did you mean 'margin'\?"),
        ("[[slices]]\nmatch = 'a'\n[[slices]]\nmatch = 'b'\nlevel = 1\n", r"gate\.toml:5: no key called 'level'"),
        ("\n[default]\nmargin = 2\n", r"gate\.toml:2: no key called 'default'; did you mean 'defaults'"),
        ("margin = 2\n", r"gate\.toml:1: no key called 'margin'"),
        ("[defaults]\nmargin = 'two'\n", r"gate\.toml:2: margin: expected .*number.*, got \"two\""),
        ("[defaults]\n\nmargin = 200\n", r"gate\.toml:3: margin: 200 is not between 0 and 100"),
        ("[defaults]\nconfidence = 95\n", r"gate\.toml:2: confidence: 95 is not between 0\.5 and 1"),
        ("[[slices]]\ntier = 'required'\n", r"gate\.toml:1: match: is missing"),
        ("[[slices]]\nmatch = 'a'\ntier = 'must'\n", r"gate\.toml:3: tier: expected \"required\", \"fail-only\" or"),
        ("[slices]\nmatch = 'a'\n", r"gate\.toml:1: slices: expected a list of tables; write \[\[slices\]\]"),
        ("\n[[floor]]\nmatch = 'a'\n", r"gate\.toml:2: no key called 'floor'; did you mean 'floors'"),
        (
            "[[floors]]\nmatch = 'a'\nat_least = 0.6\n",
            r"gate\.toml:3: at_least: 0\.6 is in per cent: did you mean 60\?",
        ),
        (
            "[[edits]]\nedit = 'number'\nat_most = 0.15\n",
            r"gate\.toml:3: at_most: 0\.15 is in per cent: did you mean 15",
        ),
        ("[[defaults]]\nmargin = 2\n", r"defaults: expected a table"),
        (
            "[[cues]]\ncue = 'overlaps'\nat_most = 2\n",
            r"gate\.toml:2: cue: no cue called 'overlaps'; did you mean",
        ),
        ("[defaults\n", r"gate\.toml: is not valid TOML"),
    ],
)
def test_mistakes_name_the_file_and_where_they_are(tmp_path, text, message):
    with pytest.raises(FileError, match=message):
        read(tmp_path, text)


def test_the_policy_of_the_page_is_one(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "reference" / "files.md").read_text(encoding="utf-8")
    policy = read(tmp_path, page.partition("## Policies")[2].partition("```toml\n")[2].partition("```")[0])
    assert policy.cues == (CueRule("overlap", 20, "required"),)


def test_the_pairs_that_the_page_names_are_those_needed():
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "gate.md").read_text(encoding="utf-8")
    for discordance in (0, 2, 5, 10, 20):
        needed = [pairs_needed(discordance / 100, margin) for margin in (0.01, 0.02, 0.05)]
        assert f"| {discordance} % | {' | '.join(f'{count:,}' for count in needed)} |" in page


def test_the_effective_rows_and_margins_that_the_page_names_are_those_of_the_suites():
    page = " ".join(
        (Path(__file__).parents[2] / "docs" / "explanation" / "gate.md").read_text(encoding="utf-8").split()
    )

    def plan(suite):
        groups = suite.frame.select("group").collect()["group"].rank("dense").to_numpy()
        worth, sizes = effective_rows(groups), np.unique(groups, return_counts=True)[1]
        return (
            len(groups),
            sizes.max(),
            round(worth),
            100 * float(default_margin(worth)),
            sizes.sum() ** 2 / (sizes @ sizes),
        )

    cues = api.generate("cues")
    rows, largest, worth, margin, _ = plan(cues)
    assert f"`cues` has {rows:,} rows, but up to {largest} of them come from one pair. It is worth {worth} rows" in page
    assert f"and may lose {margin:.1f} points instead of 2" in page
    limited = plan(limit_rows(cues, 3000, seed=0))[2]
    assert f"With `--limit 3000` it is worth {limited} rows" in page
    assert limited < LEAST_ROWS
    rows, largest, worth, margin, kish = plan(api.generate("lexical"))
    assert f"`lexical` has {rows:,} rows and a largest group of {largest}: it is worth {worth} rows" in page
    assert f"and may lose {margin:.1f} points. An average" in page
    assert f"would give `lexical` {kish:.0f} rows" in page


def test_a_margin_is_a_number_of_points():
    with pytest.raises(AcidtestError, match="--margin is a number of points from 0 to 100, not -1"):
        GatePolicy().with_margin(-1)
