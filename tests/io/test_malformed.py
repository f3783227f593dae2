"""Every way we know in which a file can be wrong, and what a user is told.

The messages are in tests/golden/malformed.txt, to be read by people: each must say what is wrong, where, and what to
do next.
"""

import gzip
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from acidtest.core import files
from acidtest.core.errors import AcidtestError
from acidtest.corpora.files import read_corpus
from acidtest.io import blocks, corpus_files, rows
from acidtest.io.layouts import LAYOUTS

SNLI = "sentence1\tsentence2\tgold_label\n"
GOOD = "A cat sat.\tA cat lay.\tneutral\n"
OBJECT = '{"premise": "A cat sat.", "hypothesis": "A cat lay.", "label": "neutral"}\n'
TWICE = OBJECT.replace("}", ', "label": "neutral"}')


@dataclass(frozen=True)
class Case:
    """A file that is wrong, and the options it is read with. No content: there is no such file."""

    title: str
    name: str
    content: bytes | str | None
    options: dict[str, Any] = field(default_factory=dict)
    layout: str = ""
    """Whose files it is one of."""
    beside: dict[str, str] = field(default_factory=dict)
    """What else is in its folder."""


def parquet(**columns: list[Any]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()


def json_label(label: str) -> str:
    return OBJECT + f'{{"premise": "A dog ran.", "hypothesis": "A dog lay.", "label": {label}}}\n'


CASES = [
    Case("no such file", "a.tsv", None),
    Case("unknown ending", "a.xlsx", b"x"),
    Case("unknown ending, packed", "a.xlsx.gz", gzip.compress(b"x")),
    Case("no ending", "pairs", SNLI + GOOD),
    Case("packed Parquet", "a.parquet.gz", gzip.compress(b"x")),
    Case("empty tab-separated file", "a.tsv", b""),
    Case("empty CSV file", "a.csv", b""),
    Case("empty JSON lines", "a.jsonl", b""),
    Case("empty JSON array", "a.json", b"[]"),
    Case("only a byte order mark", "a.csv", b"\xef\xbb\xbf"),
    Case("only blank lines", "a.tsv", b"\n\r\n\n"),
    Case("only blank JSON lines", "a.jsonl", b"\n  \n"),
    Case("header only", "a.tsv", SNLI),
    Case("gzip data cut short", "a.tsv.gz", gzip.compress((SNLI + GOOD * 100).encode())[:-20]),
    Case("not gzip data", "a.tsv.gz", SNLI + GOOD),
    Case("gzip data without .gz", "a.tsv", gzip.compress((SNLI + GOOD).encode())),
    Case("a spreadsheet called CSV", "a.csv", b"PK\x03\x04\x14\x00"),
    Case("Parquet called JSON", "a.jsonl", parquet(a=[1])),
    Case("gzip bomb", "a.jsonl.gz", gzip.compress(OBJECT.encode() * 1000)),
    Case("Latin-1", "a.tsv", (SNLI + GOOD + "Un café.\tUn bar.\tneutral\n").encode("latin-1")),
    Case("UTF-8 cut in the middle of a character", "a.jsonl", OBJECT.encode() + "é".encode()[:1]),
    Case("UTF-16 with a byte order mark", "a.csv", "premise,hypothesis,label\n".encode("utf-16")),
    Case("UTF-16 without a byte order mark", "a.csv", "premise,hypothesis,label\n".encode("utf-16-le")),
    Case("NUL byte", "a.tsv", SNLI + GOOD + "A\0dog.\tA cow.\tneutral\n"),
    Case("old Macintosh line ends", "a.tsv", (SNLI + GOOD).replace("\n", "\r")),
    Case("too many cells, TSV", "a.tsv", SNLI + GOOD + "\nA dog.\tran\tA dog lay.\tneutral\n"),
    Case("too few cells, TSV", "a.tsv", SNLI + GOOD + "A dog.\tA dog lay.\n" + GOOD),
    Case("one cell, TSV", "a.tsv", SNLI + GOOD + "(10 rows)\n"),
    Case("too many cells, CSV", "a.csv", 'premise,hypothesis,label\n"A\ncat.",B.,neutral\nA, B.,C.,neutral\n'),
    Case("too few cells, CSV", "a.csv", "premise,hypothesis,label\nA cat.,neutral\n"),
    Case("too many cells without header", "a.tsv", GOOD + "A.\tB.\tC.\tneutral\n"),
    Case("too many cells, quoted TSV", "a.tsv", SNLI + '"A ""cat""."\tB.\tneutral\nA.\tB.\tC.\tneutral\n'),
    Case("quote never closed, CSV", "a.csv", 'premise,hypothesis,label\nA.,"B.,neutral\nC.,D.,neutral\n'),
    Case("text after a closing quote, CSV", "a.csv", 'premise,hypothesis,label\n\n"A "cat".",B.,neutral\n'),
    Case("quote never closed, quoted TSV", "a.tsv", '"premise"\t"hypothesis"\t"label"\n"A.\tB.\tneutral\n'),
    Case("two columns of one name", "a.tsv", "premise\thypothesis\tlabel\tpremise\nA.\tB.\te\tC.\n"),
    Case("no column named", "a.csv", ",,\nA.,B.,neutral\n"),
    Case("too many cells between semicolons", "a.csv", "premise;hypothesis;label\nA.;B.;neutral\nC.; D.;E.;neutral\n"),
    Case("bars", "a.csv", "premise|hypothesis|label\nA.|B.|neutral\n"),
    Case("tabs in a CSV", "a.csv", SNLI + GOOD),
    Case("one column", "a.tsv", "text\nA cat sat.\n"),
    Case("commas in a TSV", "a.tsv", "premise,hypothesis,label\nA.,B.,neutral\n"),
    Case("JSON cut short", "a.jsonl", OBJECT + OBJECT[:-20]),
    Case("JSON with single quotes", "a.jsonl", "{'premise': 'A.'}\n"),
    Case("JSON with a comma after every line", "a.jsonl", OBJECT.replace("\n", ",\n") * 2),
    Case("JSON with two objects on a line", "a.jsonl", OBJECT + OBJECT.strip() + OBJECT),
    Case("JSON with a bare word", "a.jsonl", OBJECT + '\n{"premise": nothing}\n'),
    Case("JSON with a raw tab in a string", "a.jsonl", OBJECT.replace("cat", "c\tat")),
    Case("JSON object over several lines", "a.jsonl", OBJECT.replace(", ", ",\n")),
    Case("JSON line that is an array", "a.jsonl", OBJECT + '["A.", "B.", "neutral"]\n'),
    Case("JSON lines that are one array", "a.jsonl", f"[{OBJECT}]\n"),
    Case("JSON line that is a number", "a.jsonl", OBJECT * 2 + "7\n"),
    Case("JSON line that is null", "a.jsonl", "null\n"),
    Case("JSON nested too deeply", "a.jsonl", OBJECT + '{"premise": ' + "[" * 100_000 + "]" * 100_000 + "}\n"),
    Case("JSON with half a character", "a.jsonl", OBJECT + OBJECT.replace("cat", "\\ud83d")),
    Case("JSON with a key twice", "a.jsonl", OBJECT + TWICE),
    Case("JSON with a key twice inside", "a.jsonl", OBJECT * 2 + OBJECT.replace("}", ', "votes": {"e": 1, "e": 2}}')),
    Case("JSON array with a key twice", "a.json", f"[\n{OBJECT},\n{TWICE}]"),
    Case("JSON array broken", "a.json", f"[\n{OBJECT},\n{OBJECT}\n"),
    Case("JSON array of strings", "a.json", f'[\n{OBJECT},\n"A cat sat."]'),
    Case("Parquet cut short", "a.parquet", parquet(premise=["A."], hypothesis=["B."], label=["e"])[:-9]),
    Case("text called Parquet", "a.parquet", SNLI + GOOD),
    Case("Parquet without the columns", "a.parquet", parquet(question=["A?"], answer=["B."])),
    Case(
        "Parquet with an unknown label",
        "a.parquet",
        parquet(premise=["A.", "B."], hypothesis=["C.", "D."], label=[0, 7]),
    ),
    Case("Parquet with a null hypothesis", "a.parquet", parquet(premise=["A."], hypothesis=[None], label=["e"])),
    Case("Parquet whose premise is a number", "a.parquet", parquet(premise=[1.5], hypothesis=["B."], label=["e"])),
    Case("JSON whose premise is a list", "a.jsonl", '{"premise": ["A.", "B."], "hypothesis": "C.", "label": "e"}\n'),
    Case("unknown label", "a.tsv", SNLI + GOOD + "A.\tB.\tentail\n"),
    Case(
        "unknown label after blank lines and a cell of two lines",
        "a.csv",
        'premise,hypothesis,label\n\n"A\nB",C.,e\nD.,E.,maybe so\n',
    ),
    Case("unknown label in a file without header", "a.tsv", GOOD * 3 + "A.\tB.\tyess\n"),
    Case("boolean labels", "a.jsonl", '{"premise": "A.", "hypothesis": "B.", "label": true}\n'),
    Case("fractional label", "a.jsonl", '{"premise": "A.", "hypothesis": "B.", "label": 0.5}\n'),
    Case("label that is a list", "a.jsonl", '{"premise": "A.", "hypothesis": "B.", "label": ["e", "n"]}\n'),
    Case("labels of mixed types, one unknown", "a.jsonl", json_label("0") + json_label('"-"') + json_label('"x"')),
    Case("number no class has", "a.jsonl", json_label("3")),
    Case("numbers in the GLUE layout", "a.tsv", "index\tsentence1\tsentence2\tlabel\n0\tA.\tB.\t1\n"),
    Case("numbers in the SNLI layout", "a.tsv", SNLI + "A.\tB.\t0\n"),
    Case("numbers in a file without header", "a.tsv", "A.\tB.\t0\nC.\tD.\t1\n"),
    Case(
        "numbers in columns given",
        "a.csv",
        "a,b,y\nA.,B.,1\n",
        {"columns": {"premise": "a", "hypothesis": "b", "label": "y"}},
    ),
    Case("missing columns", "a.jsonl", '{"question": "A?", "answer": "B."}\n'),
    Case("missing columns, TSV", "a.tsv", "word1\tword2\tlabel\ncat\tanimal\tTrue\n"),
    Case("missing hypothesis", "a.csv", "premise,conclusion,label\nA.,B.,neutral\n"),
    Case("missing label", "a.csv", "premise,hypothesis,judgement\nA.,B.,neutral\n"),
    Case("columns of two layouts mixed", "a.csv", "premise,sentence2,label\nA.,B.,neutral\n"),
    Case(
        "two gold columns, as in IMPPRES",
        "a.jsonl",
        '{"sentence1": "A.", "sentence2": "B.", "gold_label_log": "e", "gold_label_prag": "n"}',
    ),
    Case("two columns that differ in case", "a.csv", "premise,hypothesis,label,Label\nA.,B.,e,n\n"),
    Case("two pairs of sentences", "a.csv", "premise,hypothesis,sentence1,sentence2,label\nA.,B.,C.,D.,e\n"),
    Case("columns given that are not there", "a.csv", "text_a,text_b,y\nA.,B.,e\n", {"columns": {"premise": "test_a"}}),
    Case("columns given that resemble nothing", "a.csv", "text_a,text_b,y\nA.,B.,e\n", {"columns": {"premise": "zzz"}}),
    Case("columns given, but not all", "a.csv", "text_a,text_b,y\nA.,B.,e\n", {"columns": {"premise": "text_a"}}),
    Case("columns given for one of ours", "a.csv", "text_a,text_b,y\nA.,B.,e\n", {"columns": {"id": "y"}}),
    Case(
        "source_id given that stands twice",
        "a.csv",
        "premise,hypothesis,label,n\nA.,B.,e,1\nC.,D.,e,1\n",
        {"columns": {"source_id": "n"}},
    ),
    Case("label map with an unknown target", "a.tsv", GOOD, {"label_map": {"0": "entailling"}}),
    Case(
        "label map that leaves a label out",
        "a.tsv",
        SNLI + "A.\tB.\t0\nC.\tD.\t1\n",
        {"label_map": {"0": "entailment"}},
    ),
    Case("empty premise", "a.tsv", SNLI + GOOD + "\tB.\tneutral\n"),
    Case("hypothesis of spaces", "a.csv", "premise,hypothesis,label\nA.,  ,neutral\n"),
    Case("null premise", "a.jsonl", OBJECT + '{"premise": null, "hypothesis": "B.", "label": "e"}\n'),
    Case("missing hypothesis in one object", "a.jsonl", OBJECT + '{"premise": "A.", "label": "e"}\n'),
    Case("no row with gold", "a.tsv", SNLI + "A.\tB.\t-\nC.\tD.\t\nE.\tF.\t-1\n"),
]


PUBLISHED = {"HANS", "Breaking NLI", "XNLI", "IMPPRES implicature", "ConjNLI", "NaN-NLI"}
"""Sets in the table of shared/data/README.md that have the layout of another."""

PROBLEM = """<problem id="1" fracas_answer="yes">
<p idx="1">Every cat sat.</p>
<h>A cat sat.</h>
</problem>
"""
SPLIT = {"s1.dev": "A cat sat.\nA dog ran.\n", "s2.dev": "It sat.\nIt ran.\n", "labels.dev": "neutral\nentailment\n"}
MULTINLI = "index\tpromptID\tpairID\tgenre\tsentence1\tsentence2\tgold_label\n"
HELP = "\tfilename\tdeterminer\tmonotonicity\tgold_label\tori_sentence\tnew_sentence\n"
XNLI = "language\tgold_label\tsentence1\tsentence2\tpairID\n"


def problems(content: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<fracas-problems>\n{content}</fracas-problems>\n'


def snli(**fields: str) -> str:
    """A line of SNLI; the parses and all else are the same in every one."""
    line = {
        "annotator_labels": ["neutral"],
        "sentence1": "A cat sat.",
        "sentence2": "A cat lay.",
        "gold_label": "neutral",
    }
    return json.dumps(line | fields) + "\n"


RAGTRUTH = '{"id": "1", "source_id": "7", "labels": [], "quality": "good", "response": "B."}\n'


def of(layout: str, title: str, name: str, content: str | bytes | None, **more: Any) -> Case:
    return Case(f"{layout}: {title}", name, content, layout=layout, **more)


def parallel(title: str, name: str, **files: str | None) -> Case:
    """The split dev with some of its files changed, or left out."""
    changed = SPLIT | {f"{part}.dev": content for part, content in files.items()}
    present = {file: content for file, content in changed.items() if content is not None}
    return of("e-SNLI", title, name, None, beside=present)


BY_LAYOUT = [
    of("SNLI/MNLI", "unknown label", "snli_1.0_dev.jsonl", snli() + snli(gold_label="entailed by") + snli()),
    of("SNLI/MNLI", "no sentence2", "snli_1.0_dev.jsonl", snli() + snli(sentence2="")),
    of("SNLI/MNLI", "too few cells", "multinli_dev.tsv", MULTINLI + "0\t1\t1n\tfiction\tA cat sat.\tneutral\n"),
    of(
        "HANS",
        "unknown label",
        "hans.txt",
        "gold_label\tsentence1\tsentence2\theuristic\nnon-entail\tA.\tB.\tlexical\n",
    ),
    of("HANS", "header misspelt", "hans.txt", "gold_label\tsentence1\tsentence_2\nentailment\tA.\tB.\n"),
    of("Breaking NLI", "cut short", "dataset.jsonl", snli(category="colors") + snli(category="colors")[:-30]),
    of("GLUE", "no label", "MRPC/dev.tsv", "index\tsentence1\tsentence2\tQuality\n0\tA.\tB.\t1\n"),
    of("GLUE RTE", "unknown label", "RTE/dev.tsv", "index\tsentence1\tsentence2\tlabel\n0\tA.\tB.\tnot_entailed\n"),
    of("GLUE RTE", "a third number", "RTE/dev.tsv", "index\tsentence1\tsentence2\tlabel\n0\tA.\tB.\t2\n"),
    of("premise, hypothesis, gold_label", "unknown label", "a.csv", "premise,hypothesis,gold_label\nA.,B.,maybe\n"),
    of("Hugging Face", "unknown label", "a.jsonl", json_label('"none"')),
    of("Hugging Face", "number no class has, as pandas writes it", "a.csv", "premise,hypothesis,label\nA.,B.,4.0\n"),
    of("Hugging Face RTE", "a third number", "rte.csv", "premise,hypothesis,label,idx\nA.,B.,2,0\n"),
    of("Hugging Face HANS", "a third number", "a.csv", "premise,hypothesis,label,heuristic,subcase\nA.,B.,2,x,y\n"),
    of("WANLI", "unknown label", "wanli.jsonl", '{"id": 1, "premise": "A.", "hypothesis": "B.", "gold": "unclear"}\n'),
    of("TaxiNLI", "tab in a cell", "taxinli10k.tsv", 'prem\thyp\tlabel\tgenre\nA "cat".\tB\tC.\tneutral\tslate\n'),
    of(
        "SICK",
        "unknown label",
        "SICK.txt",
        "pair_ID\tsentence_A\tsentence_B\tentailment_judgment\n1\tA.\tB.\tNEUTRALITY\n",
    ),
    of("XNLI", "unknown label", "xnli.dev.tsv", XNLI + "de\tcontradictory\tA.\tB.\t1\nde\tcontradictary\tC.\tD.\t2\n"),
    of(
        "XNLI translated", "unknown label", "multinli.train.de.tsv", "premise\thypo\tlabel\nA .\tB .\twidersprüchlich\n"
    ),
    of("ANLI", "unknown label", "dev.jsonl", '{"uid": "u", "context": "A.", "hypothesis": "B.", "label": "x"}\n'),
    of(
        "ANLI", "no label, as in a hidden test set", "test.jsonl", '{"uid": "u", "context": "A.", "hypothesis": "B."}\n'
    ),
    of("ANLI annotated", "quotes", "r1.csv", 'context,statement,gold_label\n"A "cat".",B.,e\n'),
    of("SciTail", "unknown label", "scitail_1.0_dev.txt", snli(gold_label="entails") + snli(gold_label="backs")),
    of("SciTail", "JSON lines called txt cut short", "scitail_1.0_dev.txt", snli() + snli()[:40]),
    of("SciTail without header", "two cells", "scitail_1.0_dev.tsv", "A.\tB.\tentails\nC.\tneutral\n"),
    of("LLM-AggreFact", "a third number", "a.csv", "dataset,doc,claim,label\nx,A.,B.,1\nx,C.,D.,2\n"),
    of("TRUE", "unknown label", "true.csv", ",grounding,generated_text,label\n0,A.,B.,plausible\n"),
    of("TRUE", "empty grounding", "true.csv", ",grounding,generated_text,label\n0,,B.,1\n"),
    of("AggreFact", "a third number", "aggre_fact_sota.csv", "dataset,origin,doc,summary,label,cut\nx,y,A.,B.,2,val\n"),
    of("SummaC", "unknown label", "summac_val.jsonl", '{"document": "A.", "claim": "B.", "label": "CORRECT"}\n'),
    of("FaithBench", "unknown label", "FaithBench.csv", "source,summary,LLM,worst-label\nA.,B.,x,Fine\n"),
    of(
        "FaithBench",
        "binarised, by a script that gives 0 to consistent and to hallucinated summaries",
        "binarized_samples.jsonl",
        '{"source": "A.", "summary": "B.", "label": 0}\n',
    ),
    of("RAGTruth", "no documents beside it", "response.jsonl", RAGTRUTH),
    of(
        "RAGTruth",
        "the documents alone",
        "source_info.jsonl",
        '{"source_id": "7", "source_info": "A.", "prompt": "P"}\n',
    ),
    of("HaluEval", "unknown label", "qa_samples.csv", "knowledge,question,answer,hallucination\nA.,Q?,B.,maybe\n"),
    of(
        "HaluEval",
        "an empty summary",
        "s.jsonl",
        '{"document": "A.", "right_summary": "B.", "hallucinated_summary": ""}\n',
    ),
    of(
        "HaluEval",
        "without documents",
        "general_data.jsonl",
        '{"user_query": "A", "chatgpt_response": "B.", "hallucination": "no"}\n',
    ),
    of("documents and claims", "numbers", "a.csv", "document,claim,label\nA.,B.,1\n"),
    of("documents, claims and verdicts", "two verdicts", "a.csv", "document,claim,supported,faithful\nA.,B.,yes,no\n"),
    of("documents and claims", "two documents", "a.csv", "document,context,claim,label\nA.,B.,C.,neutral\n"),
    of("documents and claims", "two claims", "a.csv", "document,claim,response,label\nA.,B.,C.,neutral\n"),
    of("text pairs", "numbers", "a.csv", "text,text_pair,label\nA.,B.,1\n"),
    of("ConjNLI", "no label, as in its test set", "conj_test.tsv", "\ufeffPremise\tHypothesis\nA or B.\tA.\n"),
    of("ConjNLI", "unknown label", "conj_dev.tsv", "\ufeffPremise\tHypothesis\tLabel\nA or B.\tA.\tnuetral\n"),
    of("MED", "unknown label", "MED.tsv", MULTINLI + "1\t1\t1\tcrowd:upward_monotone\tA.\tB.\tnon_entailed\n"),
    of("MoNLI", "number", "nmonli.jsonl", '{"sentence1": "A.", "sentence2": "B.", "gold_label": 1, "depth": -1}\n'),
    of("HELP", "no new sentence", "pmb_train_v1.0.tsv", HELP + "7\tgold/p1\tno\tdownward\tneutral\tNo cat sat .\t\n"),
    of("HELP", "too few cells", "pmb_train_v1.0.tsv", HELP + "7\tgold/p1\tno\tdownward\tneutral\tNo cat sat .\n"),
    of(
        "NaN-NLI",
        "too few cells",
        "nan.csv",
        "premise;hypothesis;label;;Construction\nNo cat.;A cat.;contradiction;;\nA.;B.\n",
    ),
    of("EQUATE", "unknown label", "NewsNLI.jsonl", snli(gold_label="entailment") + snli(gold_label="not sure")),
    of("IMPPRES", "a fourth number", "a.csv", "premise,hypothesis,gold_label,presupposition,paradigmID\nA.,B.,3,x,0\n"),
    of(
        "IMPPRES implicature",
        "two gold columns",
        "implicature.csv",
        "premise,hypothesis,gold_label_log,gold_label_prag,trigger\nA.,B.,n,e,some\n",
    ),
    of("three columns without header", "unknown label", "a.tsv", GOOD + "A.\tB.\tneutrall\n"),
    of("three columns without header", "four cells", "a.tsv", GOOD + "A.\tB.\tC.\tneutral\n"),
    of("FraCaS", "empty file", "fracas.xml", ""),
    of(
        "FraCaS",
        "other XML",
        "pairs.xml",
        "<entailment-corpus>\n<pair><t>A.</t><h>B.</h></pair>\n</entailment-corpus>\n",
    ),
    of("FraCaS", "no XML", "fracas.xml", SNLI + GOOD),
    of("FraCaS", "cut short", "fracas.xml", problems(PROBLEM * 2)[:-60]),
    of("FraCaS", "tags crossed", "fracas.xml", problems(PROBLEM + PROBLEM.replace("</p>", "</h>"))),
    of("FraCaS", "bare ampersand", "fracas.xml", problems(PROBLEM.replace("Every cat", "Tom & Tim"))),
    of("FraCaS", "entity of HTML", "fracas.xml", problems(PROBLEM.replace("Every", "&Eacute;very"))),
    of("FraCaS", "entity declared", "fracas.xml", '<!DOCTYPE x [\n<!ENTITY cat "cat">\n]>\n' + PROBLEM),
    of("FraCaS", "unknown answer", "fracas.xml", problems(PROBLEM + PROBLEM.replace("yes", "perhaps"))),
    of("FraCaS", "no answer anywhere", "fracas.xml", problems(PROBLEM.replace(' fracas_answer="yes"', "") * 2)),
    of("FraCaS", "no premise", "fracas.xml", problems(PROBLEM + PROBLEM.replace("Every cat sat.", " "))),
    of("FraCaS", "no hypothesis", "fracas.xml", problems(PROBLEM.replace("<h>A cat sat.</h>\n", "") + PROBLEM)),
    of("FraCaS", "two hypotheses", "fracas.xml", problems(PROBLEM.replace("</h>", "</h>\n<h>It sat.</h>"))),
    of(
        "FraCaS",
        "problem inside a problem",
        "fracas.xml",
        problems(PROBLEM.replace("</problem>", PROBLEM + "</problem>")),
    ),
    of(
        "FraCaS",
        "hypothesis inside a premise",
        "fracas.xml",
        problems(PROBLEM.replace("</p>", "").replace("</h>", "</h></p>")),
    ),
    of("FraCaS", "Latin-1", "fracas.xml", problems(PROBLEM.replace("cat", "caté")).encode("latin-1")),
    of("FraCaS", "packed, but not called so", "fracas.xml", gzip.compress(problems(PROBLEM).encode())),
    of("FraCaS", "not packed, but called so", "fracas.xml.gz", problems(PROBLEM)),
    of("FraCaS", "too large", "fracas.xml", problems(PROBLEM * 400)),
    of("FraCaS", "bomb", "fracas.xml.gz", gzip.compress(problems(PROBLEM * 1000).encode())),
    parallel("no labels", "s1.dev", labels=None),
    parallel("no hypotheses and no labels", "s1.dev", s2=None, labels=None),
    parallel("not even the file given", "s1.test"),
    parallel("premises end early", "labels.dev", s1="A cat sat.\n"),
    parallel("labels end early", "s1.dev", labels="neutral\n"),
    parallel("a line too many", "s1.dev", s2="It sat.\nIt ran.\nIt\n"),
    parallel("unknown label", "s1.dev", labels="neutral\nentailmen\n"),
    parallel("numbers", "s1.dev", labels="1\n0\n"),
    parallel("an empty premise", "s2.dev", s1="A cat sat.\n\n"),
    parallel("an empty file", "labels.dev", labels=""),
    parallel("no gold", "labels.dev", labels="-\n-\n"),
    of("e-SNLI", "folder of two splits", ".", None, beside=SPLIT | {"s1.train": "A.\n", "labels.train.gz": "x"}),
    of("e-SNLI", "folder that lacks a file", ".", None, beside={"s1.dev": "A.\n", "s2.dev": "B.\n"}),
]


def told(case: Case, folder: Path) -> str:
    """The message for a case, with the path of the file, and of its folder, replaced."""
    path = folder / case.name
    path.parent.mkdir(exist_ok=True)
    if case.content is not None:
        path.write_bytes(case.content.encode() if isinstance(case.content, str) else case.content)
    for name, content in case.beside.items():
        (path / name if path.is_dir() else path.parent / name).write_text(content, encoding="utf-8", newline="\n")
    with pytest.raises(AcidtestError) as caught:
        read_corpus(path, **case.options)
    return str(caught.value).replace(str(path), "{path}").replace(str(path.parent), "{folder}")


@pytest.mark.parametrize("block", [blocks.BLOCK, 60])
def test_every_malformed_file_gets_its_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Callable[[str, str], None], block: int
) -> None:
    monkeypatch.setattr(blocks, "BLOCK", block)
    monkeypatch.setattr(rows, "MAX_MEMORY_BYTES", block * 10)
    monkeypatch.setattr(files, "MAX_UNPACKED_BYTES", 50_000)
    monkeypatch.setattr(corpus_files, "MOST_BYTES", 20_000)
    cases = CASES + BY_LAYOUT
    assert len({case.title for case in cases}) == len(cases) >= 150
    messages = []
    for number, case in enumerate(cases):
        folder = tmp_path / str(number)
        folder.mkdir()
        messages.append(f"{case.title} ({case.name})\n    {told(case, folder)}\n")
    golden("malformed.txt", "\n".join(messages))


def test_every_layout_has_a_broken_file() -> None:
    assert {layout.name for layout in LAYOUTS} | PUBLISHED == {case.layout for case in BY_LAYOUT}


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").mkdir()
    with pytest.raises(AcidtestError, match=r"a\.tsv: is a folder, but no suite that acidtest wrote"):
        read_corpus(tmp_path / "a.tsv")


def test_messages_are_short_even_when_a_cell_is_not(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(SNLI + "A.\tB.\t" + "x" * 200_000 + "\n")
    with pytest.raises(AcidtestError) as caught:
        read_corpus(tmp_path / "a.tsv")
    assert len(str(caught.value)) < 1000


def test_a_huge_cell_is_read(tmp_path: Path) -> None:
    huge = "x" * 1_000_000
    for name, content in (
        ("a.tsv", SNLI + f"{huge}\tB.\te\n"),
        ("a.csv", f'premise,hypothesis,label\n{huge},5" B.,e\n'),
    ):
        (tmp_path / name).write_text(content)
        assert read_corpus(tmp_path / name).suite.frame.collect()["premise"][0] == huge


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("spaces.tsv", SNLI + "A.\tB.\t neutral  \n"),
        ("case.tsv", SNLI + "A.\tB.\tNeutral\n"),
        ("mixed.jsonl", json_label("0") + json_label('"-"') + json_label('"contradiction"')),
        ("blank.csv", "premise,hypothesis,label\r\n\r\nA.,B.,neutral\r\n\r\n\r\n"),
        ("unended.tsv", SNLI + GOOD.rstrip()),
        ("quote.csv", 'premise,hypothesis,label\n5" disk,B.,neutral\n'),
    ],
)
def test_what_looks_odd_but_is_well_still_loads(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_bytes(content.encode())
    assert read_corpus(tmp_path / name).suite.card.rows > 0
