"""FraCaS's XML, and that no XML can do harm."""

import gzip
from pathlib import Path
from xml.parsers import expat

import pytest

from acidtest import api
from acidtest.core.errors import FileError
from acidtest.corpora.files import read_corpus
from acidtest.io import corpus_files
from acidtest.io.corpus_files import fracas_table

# The published file begins so. Nothing fetches the document type it names.
PROLOGUE = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE fracas-problems SYSTEM "fracas-problems.dtd">
<?xml-stylesheet type="text/xsl" href="fracas-problems-to-html.xsl"?>
"""
PROBLEMS = """
<fracas-problems>
<comment class="intro">
  Some pairs &lt; all pairs.
</comment>
<comment class="section"> 1 CATS </comment>
<comment class="subsection"> 1.1 Tails </comment>
<comment> A remark. </comment>

<problem
  id="001"
  fracas_answer="yes">
  <p idx="1">
    Every cat&apos;s tail
    is long.
  </p>
  <p idx="2"> Tom is a cat. </p>
  <q> Is Tom's tail long? </q>
  <h> Tom's tail is long. </h>
  <a> Yes </a>
  <why> Universal instantiation. </why>
</problem>
<problem id="002" fracas_answer="undef" fracas_nonstandard="true">
  <p idx="1">A cat is <b>here</b>.</p>
  <q>

  </q>
  <h>

  </h>
  <a> </a>
  <note> No question was given. </note>
</problem>

<comment class="section"> 2 DOGS </comment>
<problem id="003" fracas_answer="no"><p idx="1">No dog sat.</p><h>A dog sat.</h><a>No</a></problem>
<problem id="004" fracas_answer="unknown" fracas_nonstandard="true">
  <p idx="1">A dog sat.</p><h>A big dog sat.</h><a>Don't know, on one reading</a>
</problem>
<problem id="005"><p idx="1">A dog sat.</p><h>It sat.</h></problem>
</fracas-problems>
"""


@pytest.fixture
def written(tmp_path: Path):
    """Write an XML file and give its path."""

    def write(content: str, name: str = "fracas.xml") -> Path:
        path = tmp_path / name
        path.write_bytes(gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode())
        return path

    return write


@pytest.mark.parametrize("name", ["fracas.xml", "fracas.XML", "fracas.xml.gz"])
def test_problems_become_a_suite(written, name: str) -> None:
    found = read_corpus(written(PROLOGUE + PROBLEMS, name))
    # Problem 2 is undef, and problem 5 says nothing, which is undef too.
    assert (found.layout, found.rows_read, found.dropped) == ("FraCaS", 5, 2)
    two = "Every cat's tail is long. Tom is a cat."
    columns = ("premise", "hypothesis", "label", "source_id", "premises", "section", "subsection", "nonstandard")
    assert found.suite.frame.select(columns).collect().rows() == [
        (two, "Tom's tail is long.", "entailment", "001", "2", "1 CATS", "1.1 Tails", "false"),
        ("No dog sat.", "A dog sat.", "contradiction", "003", "1", "2 DOGS", None, "false"),
        ("A dog sat.", "A big dog sat.", "neutral", "004", "1", "2 DOGS", None, "true"),
    ]
    assert found.suite.name == "fracas"
    assert found.suite.card.columns == {
        "premises": "factor",
        "section": "factor",
        "subsection": "text",
        "nonstandard": "factor",
    }


def test_markup_inside_a_sentence_is_left_out_and_its_words_kept(written) -> None:
    table = fracas_table(written(PROLOGUE + PROBLEMS))
    assert table.frame["premise"][1] == "A cat is here."
    assert table.frame["hypothesis"][1] == ""


def test_rows_know_the_line_on_which_their_problem_begins(written) -> None:
    table = fracas_table(written(PROBLEMS))
    lines = PROBLEMS.splitlines()
    assert [lines[line - 1][:8] for line in map(table.line, range(5)) if line] == ["<problem"] * 5


def test_a_file_without_sections_ids_and_document_type_will_do(written) -> None:
    found = read_corpus(written('<set><problem fracas_answer="yes"><p>A.</p><h>B.</h></problem></set>'))
    frame = found.suite.frame.collect()
    assert "section" not in frame.columns
    assert frame["source_id"].to_list() == [None]


def test_answers_may_be_given_another_meaning(written) -> None:
    found = read_corpus(written(PROLOGUE + PROBLEMS), label_map={"undef": "-", "unknown": "non-entailment"})
    assert found.suite.card.labels == {"contradiction": 1, "entailment": 1, "non-entailment": 1}


def test_a_problem_set_is_a_suite_for_the_whole_program(written) -> None:
    assert api.load(written(PROLOGUE + PROBLEMS)).card.rows == 3


def test_a_byte_order_mark_and_a_wrong_declaration_of_the_encoding_are_no_matter(written) -> None:
    content = '\ufeff<?xml version="1.0" encoding="ISO-8859-1"?>' + PROBLEMS.replace("No dog", "Kein Hünd")
    assert read_corpus(written(content)).suite.frame.collect()["premise"][1] == "Kein Hünd sat."


LAUGHS = "".join(f'<!ENTITY lol{n} "{f"&lol{n - 1};" * 10}">\n' for n in range(1, 10))


@pytest.mark.parametrize(
    ("declaration", "name"),
    [
        (f'<!ENTITY lol0 "lol">\n{LAUGHS}', "lol0"),
        ('<!ENTITY secret SYSTEM "file:///etc/passwd">', "secret"),
        ('<!ENTITY far SYSTEM "http://localhost:9/x">', "far"),
        ('<!ENTITY % parameter SYSTEM "file:///etc/passwd"> %parameter;', "parameter"),
        ('<!ENTITY pixel SYSTEM "x.gif" NDATA gif>', "pixel"),
    ],
)
def test_entities_are_refused_where_they_are_declared(written, declaration: str, name: str) -> None:
    content = f'<?xml version="1.0"?>\n<!DOCTYPE set [\n{declaration}]>\n<set>&lol9;</set>'
    with pytest.raises(FileError) as caught:
        read_corpus(written(content))
    assert str(caught.value).endswith(
        f":3: declares the entity {name!r}; no entity is expanded here: write its text where it is used"
    )


def test_an_entity_that_the_document_type_might_declare_is_refused_where_it_is_used(written) -> None:
    content = PROLOGUE + '<set>\n<problem fracas_answer="yes"><p>A caf&eacute;.</p><h>B.</h></problem></set>'
    with pytest.raises(
        FileError, match=r":5: uses the entity 'eacute', which XML does not define; write the character"
    ):
        read_corpus(written(content))


def test_declarations_that_are_no_entities_are_let_be(written) -> None:
    declared = PROLOGUE.replace('"fracas-problems.dtd"', '"fracas-problems.dtd" [<!ELEMENT p (#PCDATA)>]')
    assert read_corpus(written(declared + PROBLEMS)).suite.card.rows == 3


def test_a_file_of_a_size_that_fracas_never_has_is_refused(written, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_files, "MOST_BYTES", 1000)
    for name in ("a.xml", "a.xml.gz"):
        with pytest.raises(FileError, match="is larger than 1,000 bytes, so it is not FraCaS"):
            read_corpus(written(PROLOGUE + PROBLEMS, name))


def test_deep_nesting_does_no_harm(written) -> None:
    deep = "<x>" * 100_000 + "</x>" * 100_000
    with pytest.raises(FileError, match="holds <x> with no <problem> in it"):
        read_corpus(written(deep))


def test_expat_is_one_that_withstands_known_attacks() -> None:
    # 2.4.1 limits the amplification of entities, should one ever get past us.
    assert expat.version_info >= (2, 4, 1)
