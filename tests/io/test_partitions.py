from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import FileError


def test_a_corpus_may_lie_in_several_parquet_files(tmp_path: Path) -> None:
    whole = pl.DataFrame(
        {
            "premise": [f"{number} men walk." for number in range(30)],
            "hypothesis": ["Men walk."] * 30,
            "label": ["entailment", "neutral"] * 15,
            "score": [number / 10 for number in range(30)],
        }
    )
    (tmp_path / "corpus").mkdir()
    for number, part in enumerate(whole.iter_slices(11)):
        part.write_parquet(tmp_path / "corpus" / f"train-{number:05}-of-00003.parquet")
    whole.write_parquet(tmp_path / "corpus.parquet")
    parted, single = api.load(tmp_path / "corpus"), api.load(tmp_path / "corpus.parquet")
    assert parted.card.fingerprint == single.card.fingerprint
    assert parted.frame.collect().equals(single.frame.collect())
    (tmp_path / "corpus" / "train-00001-of-00003.parquet").unlink()
    with pytest.raises(FileError, match="lacks parts 00001 of 3"):
        api.load(tmp_path / "corpus")
    whole.write_parquet(tmp_path / "corpus" / "dev-00000-of-00001.parquet")
    with pytest.raises(FileError, match=r"several splits \(dev, train\)"):
        api.load(tmp_path / "corpus")


def test_parts_with_other_columns_are_refused(tmp_path: Path) -> None:
    rows = pl.DataFrame({"premise": ["A man walks."], "hypothesis": ["He walks."], "label": ["entailment"]})
    rows.write_parquet(tmp_path / "one.parquet")
    rows.with_columns(label=pl.lit(0)).write_parquet(tmp_path / "two.parquet")
    with pytest.raises(FileError, match=r"two.parquet: has other columns than one.parquet: label"):
        api.load(tmp_path)


def test_a_folder_in_parts_opens_as_a_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr("acidtest.io.rows.MOST_ROWS", 300)
    made = api.generate("stress/negation")
    api.save(made, tmp_path / "suite", parted=True)
    assert len(list((tmp_path / "suite" / "data").glob("test-*-of-00003.parquet"))) == 3
    opened = datasets.load_dataset(str(tmp_path / "suite"), cache_dir=str(tmp_path / "cache"))
    assert opened["test"]["id"] == made.frame.collect()["id"].to_list()
    assert opened["control"].num_rows == 816
    assert api.load(tmp_path / "suite").card == made.card
