"""A run built by hand, the sample drawn from it, and what is read back."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.suite import Card
from acidtest.io.tables import write_table
from acidtest.studies.errors import read_decisions
from acidtest.studies.errors.samples import COLUMNS, sample_errors

E, N, C = "entailment", "neutral", "contradiction"


def made(rows: list[tuple[str, str, str, str | None]], *, suite: str = "mine", **columns: list[str]) -> pl.DataFrame:
    """Predictions from premise, hypothesis, gold and answer."""
    frame = pl.DataFrame(rows, schema=["premise", "hypothesis", "label", "answer"], orient="row")
    return frame.with_columns(
        suite=pl.lit(suite),
        id=pl.format("{}-{}", pl.lit(suite), pl.int_range(pl.len())),
        correct=(pl.col("label") == pl.col("answer")).fill_null(False),
        p_entailment=pl.lit(0.5, pl.Float32),
        p_neutral=pl.lit(0.25, pl.Float32),
        p_contradiction=pl.lit(0.25, pl.Float32),
        **{name: pl.Series(values) for name, values in columns.items()},
    )


def run(*frames: pl.DataFrame, **kinds: str) -> Run:
    names = [frame["suite"][0] for frame in frames]
    cards = {name: Card(name, columns=kinds, rows=1, fingerprint="abcdef0") for name in names}
    return Run(Header(ModelFacts("m", "m"), cards, {}), pl.concat(frames, how="diagonal"))


def many(count: int) -> pl.DataFrame:
    """Three errors of four that take neutral for entailment, one that takes contradiction for neutral."""
    wrong = [("A dog.", "A cat.", N, E), ("A dog.", "A cow.", N, E), ("A dog.", "A hen.", N, E), ("A.", "B.", C, N)]
    return made(wrong * (count // 4))


def test_only_wrong_answers_are_sampled() -> None:
    rows = [("The dog slept.", "The dog slept.", E, E), ("The shop is open.", "The shop is closed.", C, E)]
    sample = sample_errors(run(made([*rows, ("A.", "B.", E, None)])))
    assert sample["id"].to_list() == ["mine-1"]
    row = sample.row(0, named=True)
    assert tuple(row) == COLUMNS
    expected = {
        "premise": "The shop is open.",
        "hypothesis": "The shop is closed.",
        "gold": C,
        "answer": E,
        "proposed": "antonymy",
        "category": None,
        "comment": None,
        "overlap": 0.5,
        "antonyms": "open/closed",
        "p_entailment": 0.5,
        "signature": "mine|v:1|n:1|h:abcdef|collapse:argmax|limit:none|model:m|acidtest:0.2.0"
        "|rules:1|errors:1/1|by:suite,gold,answer|draw:0",
    }
    assert {name: row[name] for name in expected} == expected


def test_prefilled_categories_are_the_proposals() -> None:
    sample = sample_errors(run(many(8)), prefill=True)
    assert sample["category"].to_list() == sample["proposed"].to_list()


def test_every_kind_of_error_has_its_share() -> None:
    sample = sample_errors(run(many(400)), n=40)
    assert sample.height == 40
    assert sample["answer"].value_counts().sort("answer").rows() == [(E, 30), (N, 10)]


def test_errors_are_divided_by_the_column_asked_for() -> None:
    genres = ["travel", "fiction", "fiction", "fiction"] * 100
    own = run(many(400).with_columns(genre=pl.Series(genres)), genre="factor")
    sample = sample_errors(own, n=8, by=["genre"])
    assert sample["genre"].value_counts().sort("genre").rows() == [("fiction", 6), ("travel", 2)]
    with pytest.raises(UnknownNameError, match="no column to divide errors by called 'gender'; did you mean 'genre'"):
        sample_errors(own, by=["gender"])


def test_a_row_is_drawn_by_its_id_whatever_its_place() -> None:
    frame = many(400)
    one, turned = sample_errors(run(frame), n=20), sample_errors(run(frame.reverse()), n=20)
    assert one["id"].to_list() == turned["id"].to_list()
    assert one["id"].to_list() != sample_errors(run(frame), n=20, seed=1)["id"].to_list()
    # A larger sample holds the smaller one where shares come out even.
    assert set(one["id"]) <= set(sample_errors(run(frame), n=40)["id"])


def test_every_error_is_equally_likely() -> None:
    one = run(made([(f"A {i}.", "B.", N, E) for i in range(40)]))
    counts = pl.concat(sample_errors(one, n=20, seed=seed).select("id") for seed in range(50))["id"].value_counts()
    # 50 draws with probability 1/2: 25 each, standard deviation 3.5; 40 rows stay within 4 of these.
    assert counts.height == 40
    assert counts["count"].min() > 25 - 14
    assert counts["count"].max() < 25 + 14


def test_all_errors_are_given_where_there_are_fewer() -> None:
    assert sample_errors(run(many(8)), n=100).height == 8


def test_untouched_pairs_are_sampled_once_unless_suites_are_named() -> None:
    own = run(many(8), made([("A.", "B.", N, E)], suite="other"), made([("A.", "C.", N, E)], suite="other#control"))
    assert set(sample_errors(own)["suite"]) == {"mine", "other#control"}
    assert sample_errors(own, suites=["other"])["id"].to_list() == ["other-0"]
    assert sample_errors(own, suites=["other#control"])["id"].to_list() == ["other#control-0"]
    with pytest.raises(UnknownNameError, match="no suite in this run called 'othr'; did you mean 'other'"):
        sample_errors(own, suites=["othr"])


def test_a_pair_that_two_controls_hold_is_sampled_once() -> None:
    pairs = [("A.", "B.", N, E), ("A.", "C.", N, E)]
    one, two = (made(pairs, suite=f"{name}#control").with_columns(id=pl.Series(["x", "y"])) for name in "ab")
    other = made([("A.", "D.", N, E)], suite="b#control").with_columns(id=pl.lit("z"))
    own = run(made(pairs, suite="a"), made(pairs, suite="b"), one, pl.concat([two, other]))
    sample = sample_errors(own).sort("id").select("suite", "id").rows()
    assert sample == [("a#control", "x"), ("a#control", "y"), ("b#control", "z")]


def mixed_run() -> Run:
    """Errors on pairs of a file, on pairs of templates, and on pairs made of others with gold from people."""
    natural = made([("A dog.", "A cat.", N, E)] * 4, certainty=pl.Series([None, None, "human", "human"]))
    templates = made([("A dog.", "A cow.", N, E)] * 3, suite="hans", certainty=["logical"] * 3)
    changed = made([("A dog.", "A hen.", N, E)] * 2, suite="swaps", certainty=["human"] * 2, base_id=["a", "b"])
    return run(natural, templates, changed)


def test_errors_on_pairs_that_rules_made_are_drawn_where_they_are_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    sample = sample_errors(mixed_run())
    assert set(sample["suite"]) == {"mine"}
    assert set(sample["material"]) == {"natural"}
    assert "left out: 5 errors on pairs that rules made (3 on hans, 2 on swaps); for those: --suite hans" in caplog.text
    assert set(sample_errors(mixed_run(), suites=["mine", "hans", "swaps"])["material"]) == {"natural", "synthetic"}
    assert set(sample_errors(mixed_run(), suites=["swaps"])["material"]) == {"synthetic"}


def test_a_run_on_nothing_but_made_pairs_is_sampled_on_them() -> None:
    templates = made([("A dog.", "A cow.", N, E)] * 3, suite="hans", certainty=["logical"] * 3)
    assert sample_errors(run(templates))["material"].to_list() == ["synthetic"] * 3


@pytest.mark.parametrize(
    ("categories", "comment", "prefilled"),
    [(("negation", "unknown"), "", True), (("negation", "unknown"), "sure", False), (("negation", ""), "", False)],
)
def test_proposals_that_nobody_changed_are_not_a_persons(
    tmp_path: Path, categories: tuple[str, str], comment: str, prefilled: bool
) -> None:
    path = tmp_path / "errors.tsv"
    rows = [f"x\tnegation\t{categories[0]}\t{comment}", f"y\tunknown\t{categories[1]}\t"]
    path.write_text("id\tproposed\tcategory\tcomment\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert read_decisions(path).prefilled is prefilled


def test_factors_and_annotators_stand_beside_and_do_not_replace_our_columns() -> None:
    frame = made([("A.", "B.", N, E)], category=["antonyms"], gold=["g"], annotator_labels=[f"{N} {E}"], note=["x"])
    own = run(frame, category="factor", gold="factor", annotator_labels="text", note="text")
    sample = sample_errors(own, by=["source_category"])
    assert sample["source_category"].to_list() == ["antonyms"]
    assert (sample["gold"].to_list(), sample["source_gold"].to_list()) == ([N], ["g"])
    assert sample["category"].to_list() == [None]
    assert sample["annotator_labels"].to_list() == [f"{N} {E}"]
    assert sample["proposed"].to_list() == ["ambiguity"]
    assert "note" not in sample.columns


def test_without_annotators_ambiguity_cannot_be_proposed(tmp_path: Path) -> None:
    write_table(sample_errors(run(made([("A.", "B.", N, E)]))), tmp_path / "a.tsv")
    assert read_decisions(tmp_path / "a.tsv").never_proposed == ("world knowledge", "ambiguity")
    voted = made([("A.", "B.", N, E)], annotator_labels=[f"{N} {E}"])
    write_table(sample_errors(run(voted)), tmp_path / "b.tsv")
    assert read_decisions(tmp_path / "b.tsv").never_proposed == ("world knowledge",)


def test_a_model_without_probabilities_has_none() -> None:
    own = run(many(4))
    hard = Run(Header(ModelFacts("m", "m", probabilities=False), own.header.suites, {}), own.predictions)
    assert sample_errors(hard)["p_neutral"].null_count() == 4


def test_a_two_way_model_is_sampled_too() -> None:
    frame = made([("We pool our assets.", "Sharing helps all.", E, "non-entailment")])
    assert sample_errors(run(frame))["proposed"].to_list() == ["word overlap"]


def test_no_errors_and_no_number_are_refused() -> None:
    with pytest.raises(AcidtestError, match="m made no errors on mine: there is nothing to sort"):
        sample_errors(run(made([("A.", "A.", E, E)])))
    with pytest.raises(AcidtestError, match="-n is a number of errors from 1 on, not 0"):
        sample_errors(run(many(4)), n=0)


def test_a_hundred_thousand_errors_are_sampled_without_measuring_all(monkeypatch: pytest.MonkeyPatch) -> None:
    from acidtest.studies.errors import samples

    measured = list[int]()
    cues = samples.cues
    monkeypatch.setattr(samples, "cues", lambda p, h: measured.append(len(p)) or cues(p, h))  # type: ignore[func-returns-value]
    assert sample_errors(run(many(100_000)), n=100).height == 100
    assert measured == [100]


@pytest.mark.parametrize("ending", ["tsv", "csv", "jsonl", "tsv.gz"])
def test_what_a_person_decided_comes_back(tmp_path: Path, ending: str) -> None:
    sample = sample_errors(
        run(made([("= 1 + 1", 'He said "no",\ttwice.', N, E), ("- a", "B.", C, N), ("A.", "C.", E, C)]))
    )
    decided = sample.with_columns(category=pl.Series(["word overlap", None, "World_Knowledge "]))
    path = tmp_path / f"errors.{ending}"
    write_table(decided, path)
    back = read_decisions(path)
    assert back.frame["id"].to_list() == sample["id"].to_list()
    assert back.frame["suite"].to_list() == ["mine"] * 3
    assert back.frame["proposed"].to_list() == sample["proposed"].to_list()
    assert back.frame["category"].to_list() == ["word overlap", None, "world knowledge"]
    assert back.decided.height == 2
    assert back.signatures == (sample["signature"][0],)


def edited(tmp_path: Path, *categories: str) -> Path:
    path = tmp_path / "errors.tsv"
    rows = "".join(f"x{i}\tA.\t{category}\n" for i, category in enumerate(categories))
    path.write_text(f"id\tpremise\tcategory\n{rows}", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("category", "problem"),
    [
        ("overlap", "no error category called 'overlap'; did you mean 'word overlap'?"),
        ("Numerical reasoning", "no error category called 'numerical reasoning'; did you mean 'numerical'?"),
        ("negation; antonymy", "category 'negation; antonymy' names 2, but an error has one: keep the likelier"),
        ("pragmatics", "no error category called 'pragmatics'; there is ambiguity, antonymy, grammaticality, length"),
    ],
)
def test_what_is_no_category_is_told_with_file_and_line(tmp_path: Path, category: str, problem: str) -> None:
    path = edited(tmp_path, "negation", "", category)
    with pytest.raises(FileError, match=re.escape(f"errors.tsv:4: {problem}")):
        read_decisions(path)


def test_a_file_needs_only_ids_and_categories(tmp_path: Path) -> None:
    sample = read_decisions(edited(tmp_path, "negation", ""))
    assert sample.frame.rows() == [(None, "x0", None, "negation", None), (None, "x1", None, None, None)]
    assert sample.signatures == ()


def test_files_that_are_no_samples_are_told(tmp_path: Path) -> None:
    path = tmp_path / "errors.tsv"
    path.write_text("id\tlabel\nx\tneutral\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"errors.tsv: has no column 'category', as a sample of errors has: acidtest"):
        read_decisions(path)
    path.write_text("id\tcategory\nx\t\ny\t\nx\tnegation\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"errors.tsv:4: id 'x' occurs a second time"):
        read_decisions(path)
    path.write_text("id\tcategory\nx\t\n\tnegation\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"errors.tsv:3: has no id"):
        read_decisions(path)
