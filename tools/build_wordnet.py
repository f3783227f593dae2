"""Makes src/acidtest/data/wordnet/ from a folder with the files of WordNet 3.0.

    python tools/build_wordnet.py FOLDER [INTO]

The same folder and the same Polars (constraints.txt) give the same bytes. The order of the rows carries meaning:
synsets stand by part of speech and offset, senses by lemma, part of speech and rank, pointers as in the data files.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

TARGET = Path(__file__).parents[1] / "src" / "acidtest" / "data" / "wordnet"
FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
SS_TYPES = {"n": 1, "v": 2, "a": 3, "s": 5, "r": 4}
"""Parts of speech in the order of the data files, with their numbers in sense keys."""
RELATIONS = {"@": "hypernyms", "@i": "instance_hypernyms", "&": "similar", "!": "antonyms", "+": "derivations"}
LEXICAL = ("!", "+")
"""Pointers from a sense to a sense; the others go from a synset to a synset."""

_MARKER = re.compile(r"\((?:a|p|ip)\)$")


@dataclass
class Entry:
    """One line of a data file."""

    pos: str
    offset: int
    lexfile: int
    forms: list[str]
    lex_ids: list[int]
    pointers: list[tuple[str, str, int, int, int]] = field(default_factory=list)
    """Symbol, file of the target, its offset, and which words here and there from 1 on; 0 is the whole synset."""


@dataclass
class Tables:
    """What the packaged files hold, by name of the file."""

    frames: dict[str, pl.DataFrame]
    texts: dict[str, str]


def lines(path: Path) -> list[str]:
    """The lines of a file without the licence; CR, LF or CRLF at their ends."""
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line and not line.startswith("  ")]


def entries(folder: Path) -> Iterator[Entry]:
    for file in FILES.values():
        for line in lines(folder / f"data.{file}"):
            yield entry(line)


def entry(line: str) -> Entry:
    fields = iter(line.split("|", 1)[0].split())
    offset, lexfile, pos, words = int(next(fields)), int(next(fields)), next(fields), int(next(fields), 16)
    made = Entry(pos, offset, lexfile, [], [])
    for _ in range(words):
        made.forms.append(_MARKER.sub("", next(fields)))
        made.lex_ids.append(int(next(fields), 16))
    for _ in range(int(next(fields))):
        symbol, target, of, places = next(fields), int(next(fields)), next(fields), next(fields)
        made.pointers.append((symbol, file_pos(of), target, int(places[:2], 16), int(places[2:], 16)))
    return made


def file_pos(pos: str) -> str:
    """The part of speech that names the file: satellites stand among the adjectives."""
    return "a" if pos == "s" else pos


def ranks(folder: Path) -> dict[tuple[str, str, int], int]:
    """Lemma, part of speech and offset → which sense of the lemma that is, from 0."""
    found = {}
    for pos, file in FILES.items():
        for line in lines(folder / f"index.{file}"):
            fields = line.split()
            senses = int(fields[2])
            for rank, offset in enumerate(fields[-senses:]):
                found[fields[0], pos, int(offset)] = rank
    return found


def counts(folder: Path) -> dict[str, int]:
    """Sense key → how often the sense is tagged in SemCor."""
    rows = (line.split() for line in lines(folder / "cntlist.rev"))
    return {key: int(count) for key, _, count in rows}


def sense_keys(synsets: list[Entry], numbers: dict[tuple[str, int], int]) -> dict[tuple[int, int], str]:
    """Synset number and place of the word → sense key (senseidx(5WN))."""
    found = {}
    for number, synset in enumerate(synsets):
        head = ":"
        if synset.pos == "s":
            target = next((pos, offset) for symbol, pos, offset, _, _ in synset.pointers if symbol == "&")
            cluster = synsets[numbers[target]]
            head = f"{cluster.forms[0]}:{cluster.lex_ids[0]:02d}"
        for place, (form, lex_id) in enumerate(zip(synset.forms, synset.lex_ids, strict=True)):
            key = f"{form}%{SS_TYPES[synset.pos]}:{synset.lexfile:02d}:{lex_id:02d}:{head}"
            found[number, place] = key.lower()
    return found


def tables(folder: Path) -> Tables:
    synsets = list(entries(folder))
    numbers = {(file_pos(synset.pos), synset.offset): number for number, synset in enumerate(synsets)}
    words = sorted({form for synset in synsets for form in synset.forms}, key=lambda form: (form.lower(), form))
    word_numbers = {word: number for number, word in enumerate(words)}
    rank, count, keys = ranks(folder), counts(folder), sense_keys(synsets, numbers)
    order = list(FILES)
    # Two spellings of a lemma in one synset (ddC, DDC) are two senses of the same rank.
    senses = sorted(
        (
            form.lower(),
            order.index(file_pos(synset.pos)),
            rank[form.lower(), file_pos(synset.pos), synset.offset],
            place,
            number,
            word_numbers[form],
            count.get(keys[number, place], 0),
        )
        for number, synset in enumerate(synsets)
        for place, form in enumerate(synset.forms)
    )
    sense_numbers = {(sense[4], sense[3]): number for number, sense in enumerate(senses)}
    frames = {
        "words": pl.DataFrame({"word": words}),
        "synsets": pl.DataFrame(
            {
                "offset": pl.Series([synset.offset for synset in synsets], dtype=pl.UInt32),
                "pos": pl.Series([synset.pos for synset in synsets], dtype=pl.Enum(list(SS_TYPES))),
                "lexfile": pl.Series([synset.lexfile for synset in synsets], dtype=pl.UInt8),
            }
        ),
        "senses": pl.DataFrame(
            {
                "word": pl.Series([sense[5] for sense in senses], dtype=pl.Int32),
                "synset": pl.Series([sense[4] for sense in senses], dtype=pl.Int32),
                "place": pl.Series([sense[3] for sense in senses], dtype=pl.UInt8),
                "rank": pl.Series([sense[2] for sense in senses], dtype=pl.UInt8),
                "count": pl.Series([sense[6] for sense in senses], dtype=pl.UInt16),
            }
        ),
    }
    for symbol, name in RELATIONS.items():
        frames[name] = relation(synsets, symbol, numbers, sense_numbers)
    return Tables(frames, {"exceptions.tsv": exceptions(folder), "lexfiles.tsv": lexfiles(folder)})


def relation(
    synsets: list[Entry],
    symbol: str,
    numbers: dict[tuple[str, int], int],
    sense_numbers: dict[tuple[int, int], int],
) -> pl.DataFrame:
    """The pointers of one kind, by source; those of one source in the order of the data file."""
    pairs = []
    for number, synset in enumerate(synsets):
        for found, pos, offset, here, there in synset.pointers:
            if found != symbol:
                continue
            target = numbers[pos, offset]
            assert (here > 0) == (there > 0) == (symbol in LEXICAL), synset
            if symbol in LEXICAL:
                pairs.append((sense_numbers[number, here - 1], sense_numbers[target, there - 1]))
            else:
                pairs.append((number, target))
    pairs.sort(key=lambda pair: pair[0])
    return pl.DataFrame(pairs, schema={"source": pl.Int32, "target": pl.Int32}, orient="row")


def exceptions(folder: Path) -> str:
    """Irregular forms with their base forms, which spaces separate."""
    rows = ["pos\tform\tbases"]
    for pos, file in FILES.items():
        # A form that stands twice (aurar) counts as it stands last, as NLTK reads it.
        found = {line.split()[0]: line.split()[1:] for line in lines(folder / f"{file}.exc")}
        rows += [f"{pos}\t{form}\t{' '.join(bases)}" for form, bases in sorted(found.items())]
    return "\n".join(rows) + "\n"


def lexfiles(folder: Path) -> str:
    rows = [line.split() for line in lines(folder / "lexnames")]
    return "\n".join(["lexfile\tname", *(f"{int(number)}\t{name}" for number, name, _ in rows)]) + "\n"


def licence(folder: Path) -> str:
    """The notice that stands, with line numbers, at the head of every data file."""
    text = (folder / "data.noun").read_text(encoding="utf-8")
    head = [line for line in text.split("\n")[:40] if line.startswith("  ")]
    return "\n".join(re.sub(r"^ +\d+ ?", "", line).rstrip() for line in head) + "\n"


def write(folder: Path, into: Path) -> None:
    into.mkdir(parents=True, exist_ok=True)
    made = tables(folder)
    for name, frame in made.frames.items():
        frame.write_parquet(into / f"{name}.parquet", compression="zstd", compression_level=19, statistics=False)
    for name, text in {**made.texts, "LICENSE": licence(folder)}.items():
        (into / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    write(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) == 3 else TARGET)
