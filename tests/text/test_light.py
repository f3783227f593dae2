"""The light tagger: whole sentences with the tags a treebank would give."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import polars as pl
import pytest

from acidtest.text.light import light_tags
from acidtest.text.tokens import placed


def tagged(text: str) -> str:
    found = placed(pl.Series([text]))
    return " ".join(f"{word}/{tag}" for word, tag in zip(found.frame["token"], light_tags(found).names, strict=True))


@pytest.mark.parametrize(
    "expected",
    [
        "The/DT light/NN is/VBZ red/JJ ./.",
        "He/PRP wore/VBD a/DT light/JJ jacket/NN ./.",
        "They/PRP light/VBP a/DT candle/NN ./.",
        "The/DT shop/NN is/VBZ open/JJ ./.",
        "They/PRP open/VBP the/DT door/NN ./.",
        "It/PRP is/VBZ a/DT kind/NN of/IN bird/NN ./.",
        "She/PRP is/VBZ kind/JJ ./.",
        "The/DT mean/JJ man/NN is/VBZ cold/JJ ./.",
        "What/WP does/VBZ it/PRP mean/VB ?/.",
        "The/DT man/NN on/IN the/DT left/NN sings/VBZ ./.",
        "His/PRP$ left/JJ hand/NN hurts/VBZ ./.",
        "He/PRP has/VBZ left/VBN ./.",
        "He/PRP stands/VBZ in/IN front/NN of/IN the/DT house/NN ./.",
        "The/DT front/JJ door/NN is/VBZ old/JJ ./.",
        "They/PRP do/VBP n't/RB like/VB tea/NN ./.",
        "It/PRP looks/VBZ like/IN rain/NN ./.",
        "He/PRP walked/VBD right/RB into/IN it/PRP ./.",
        "That/DT is/VBZ the/DT dog/NN that/WDT barks/VBZ ./.",
        "He/PRP said/VBD that/IN the/DT dog/NN barks/VBZ ./.",
        "He/PRP saw/VBD her/PRP in/IN town/NN ./.",
        "He/PRP saw/VBD her/PRP$ dog/NN ./.",
        "A/DT young/JJ boy/NN watches/VBZ the/DT game/NN ./.",
        "The/DT boys/NNS jump/VBP ./.",
        "Two/CD men/NNS are/VBP dancing/VBG in/IN the/DT street/NN ./.",
        "The/DT dancing/NN was/VBD loud/JJ ./.",
        "The/DT crowded/JJ street/NN is/VBZ dark/JJ ./.",
        "There/EX is/VBZ a/DT dog/NN ;/: it/PRP lives/VBZ there/RB ./.",
        "Cold/JJ water/NN is/VBZ good/JJ ./.",
    ],
)
def test_a_sentence_gets_its_tags(expected: str) -> None:
    text = " ".join(token.rpartition("/")[0] for token in expected.split(" ")).replace(" n't", "n't")
    assert tagged(text) == expected


def test_a_name_that_is_also_a_word_is_told_by_what_follows() -> None:
    assert tagged("Bill has cats.").startswith("Bill/NNP has/VBZ")
    assert tagged("Mark the page.").startswith("Mark/VB the/DT")
    assert tagged("Will he come?").startswith("Will/MD he/PRP")
    assert "Rose/NNP smiled/VBD" in tagged("Then Rose smiled.")


def test_quotes_open_and_close() -> None:
    assert tagged('He said "stop" now') == "He/PRP said/VBD \"/`` stop/VB \"/'' now/RB"
    assert tagged("The boys' room") == "The/DT boys/NNS '/POS room/NN"


def test_a_sentence_does_not_know_its_neighbours() -> None:
    assert tagged("I want to. Play is fun.") == "I/PRP want/VBP to/TO ./. " + tagged("Play is fun.")


# Share of the tags of Stanford's parser: ours 0.962, the tagger of textblob 0.20.1 on the same tokens 0.931.
def test_most_tags_are_those_of_snlis_parses(shared: Path) -> None:
    words, tags = list[str](), list[str]()
    with gzip.open(shared / "snli" / "snli_1.0_test.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            leaves = re.findall(r"\(([^\s()]+) ([^\s()]+)\)", row["sentence2_parse"])
            words.append(" ".join(word for _, word in leaves))
            tags.append(" ".join(tag for tag, _ in leaves))
    found = placed(pl.Series(words))
    ours = found.frame.with_columns(light_tags(found).names).group_by("text", maintain_order=True).agg("tag")
    theirs = pl.Series(tags).str.split(" ").gather(ours["text"])
    pairs = pl.DataFrame({"ours": ours["tag"], "theirs": theirs})
    pairs = pairs.filter(pl.col("ours").list.len() == pl.col("theirs").list.len()).explode("ours", "theirs")
    assert pairs.height > 80_000
    assert 0.95 < (pairs["ours"] == pairs["theirs"]).mean() < 0.98
