import importlib
import py_compile
import sys
from collections.abc import Iterator, Mapping
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from acidtest.core.errors import AcidtestError
from acidtest.core.logs import NOTE
from acidtest.core.model import Model, complete_model, model_from_spec
from acidtest.evaluate.answers import Batch
from acidtest.evaluate.runner import Asker
from acidtest.models.python import fingerprint_code

MODULE = """
import numpy as np
def probabilities(premises, hypotheses):
    return np.array([[0.7, 0.2, 0.1]] * len(premises))
def labels(premises, hypotheses):
    return ["ENTAILMENT" if h in p else "contradictory" for p, h in zip(premises, hypotheses)]
def two(premises, hypotheses):
    return ["not_entailment"] * len(premises)
def declared(premises, hypotheses):
    return ["not_entailment"] * len(premises)
declared.resolution = "two-way"
def odd(premises, hypotheses):
    return ["maybe"] * len(premises)
class Whole:
    name = "whole"
    columns = ("hypothesis",)
    def predict(self, hypotheses):
        return np.array([[0.0, 1.0, 0.0]] * len(hypotheses))
whole = Whole()
def raising(premises, hypotheses):
    raise RuntimeError("out of memory")
def nothing(premises, hypotheses):
    return None
def ragged(premises, hypotheses):
    return [[0.1, 0.2], [0.3]]
def holes(premises, hypotheses):
    return ["neutral", None]
def pipeline(premises, hypotheses):
    return [{"label": "neutral", "score": 0.9}] * len(premises)
def one_argument(premises):
    return ["neutral"] * len(premises)
def pairs(premises, hypotheses):
    return [[0.75, 0.25]] * len(premises)
pairs.resolution = "two-way"
def misspelt(premises, hypotheses):
    return ["neutral"] * len(premises)
misspelt.resolution = "twoway"
def hungry(premises, hypotheses):
    return ["neutral"] * len(premises)
hungry.batch_size = -1
number = 3
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "broken_model.py").write_text("def f(:\n")
    (tmp_path / "gpu_model.py").write_text("\nraise RuntimeError('no GPU')\n")
    path = tmp_path / "their_model.py"
    path.write_text(MODULE)
    importlib.invalidate_caches()
    sys.modules.pop("their_model", None)
    yield path
    sys.modules.pop("their_model", None)


def model(name: str) -> Model:
    return model_from_spec(f"python:their_model:{name}")


def test_a_function_gives_probabilities(module: Path) -> None:
    assert model("probabilities").predict(["a"], ["b"]).round(1).tolist() == [
        [pytest.approx(v) for v in (0.7, 0.2, 0.1)]
    ]


def test_a_function_gives_label_names_in_any_spelling(module: Path) -> None:
    assert model("labels").predict(["ab", "ab"], ["a", "x"]).tolist() == [[1, 0, 0], [0, 0, 1]]


def test_a_function_with_two_labels_is_two_way(module: Path) -> None:
    two = model("two")
    assert (two.predict(["a"], ["b"]).tolist(), two.resolution) == ([[0, 1, 0]], "two-way")
    assert model("declared").resolution == "two-way"
    assert model("declared").predict(["a"], ["b"]).tolist() == [[0, 1, 0]]


def answer_with(*batches: object, **attributes: object) -> Model:
    """A model whose calls give these answers, one after the other."""
    waiting = iter(batches)
    return complete_model(SimpleNamespace(predict=lambda premises, hypotheses: next(waiting), **attributes))


@pytest.mark.parametrize(
    "scores", [[0.75, 0.25], np.array([0.75, 0.25]), [[0.75], [0.25]], [[0.75, 0.25], [0.25, 0.75]]]
)
def test_one_score_a_pair_is_the_probability_of_support(scores: object) -> None:
    verifier = answer_with(scores)
    assert verifier.predict(["a", "b"], ["c", "d"]).tolist() == [[0.75, 0.25, 0], [0.25, 0.75, 0]]
    assert (verifier.resolution, verifier.probabilities) == ("two-way", True)


@pytest.mark.parametrize("verdicts", [["supported", "not supported"], [True, False], np.array([True, False])])
def test_verdicts_on_support_are_two_way_labels(verdicts: object) -> None:
    verifier = answer_with(verdicts)
    assert verifier.predict(["a", "b"], ["c", "d"]).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert (verifier.resolution, verifier.probabilities) == ("two-way", False)


def test_how_scores_are_read_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(NOTE)
    verifier = answer_with([0.75], [0.5])
    verifier.predict(["a"], ["c"])
    verifier.predict(["b"], ["d"])
    assert [record.getMessage() for record in caplog.records] == [
        "SimpleNamespace gives one score for each pair, read as the probability that the premise supports it"
    ]


def test_a_verifier_that_abstains_gives_nan() -> None:
    verifier = answer_with([0.75, np.nan], may_abstain=True)
    rows = verifier.predict(["a", "b"], ["c", "d"])
    assert (rows[0].tolist(), np.isnan(rows[1]).tolist()) == ([0.75, 0.25, 0], [True, True, True])


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([0.5, 3.25], r"gave the score 3.25 for a pair; .* between 0 and 1 \(a logit needs a sigmoid\)"),
        ([-0.5, 0.5], "gave the score -0.5 for a pair"),
        ([1, 0], "gave whole numbers, first 1; expected a support score between 0.0 and 1.0"),
    ],
)
def test_a_score_that_is_no_probability_is_refused(scores: object, message: str) -> None:
    with pytest.raises(AcidtestError, match=message):
        answer_with(scores).predict(["a", "b"], ["c", "d"])


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([0.5], [[0.5, 0.25, 0.25]], r"three numbers for each pair \(three-way\), but two-way answers before"),
        ([[0.5, 0.25, 0.25]], [0.5], r"one score for each pair, .* \(two-way\), but three-way answers before"),
        (["neutral"], ["not supported"], r"the label 'not supported' \(two-way\), but three-way answers before"),
        (["not supported"], ["contradiction"], r"the label 'contradiction' \(three-way\), but two-way answers before"),
    ],
)
def test_later_answers_must_have_the_resolution_of_the_first(first: object, second: object, message: str) -> None:
    changing = answer_with(first, second)
    changing.predict(["a"], ["b"])
    with pytest.raises(AcidtestError, match=message):
        changing.predict(["a"], ["b"])


def test_a_supported_claim_alone_does_not_decide_the_resolution() -> None:
    labelling = answer_with(["supported"], ["contradiction"])
    labelling.predict(["a"], ["b"])
    assert labelling.predict(["a"], ["b"]).tolist() == [[0, 0, 1]]


def test_a_model_that_says_three_way_gives_no_single_score() -> None:
    stated = answer_with([0.5], resolution="three-way")
    frame = pl.DataFrame({"premise": ["p"], "hypothesis": ["h"], "_id": ["1"]})
    with pytest.raises(AcidtestError, match=r"shape \(1,\) for 1 pairs; .* return \[\[0.7, 0.2, 0.1\] for premise in"):
        Asker(stated).ask(Batch(0, frame, np.zeros(1, np.uint64)))


def test_a_two_way_function_may_give_two_probabilities(module: Path) -> None:
    assert model("pairs").predict(["a"], ["b"]).tolist() == [[0.75, 0.25, 0.0]]


def test_an_unknown_label_is_refused(module: Path) -> None:
    with pytest.raises(AcidtestError, match="answered 'maybe', which is not entailment, neutral, contradiction"):
        model("odd").predict(["a"], ["b"])


def test_an_object_with_predict_is_taken_as_it_is(module: Path) -> None:
    whole = model("whole")
    assert (whole.name, whole.columns, whole.resolution) == ("whole", ("hypothesis",), "three-way")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("raising", r"python:their_model:raising raised RuntimeError: out of memory \(.*their_model.py, line 21;"),
        ("nothing", "gave NoneType; expected a list with a row or a label for each pair"),
        ("ragged", "gave rows that are no table of numbers"),
        ("holes", "answered None, which is not entailment, neutral, contradiction"),
        ("pipeline", "gave rows that are no table of numbers"),
        ("one_argument", r"raised TypeError: one_argument\(\) takes 1 positional argument but 2 were given"),
    ],
)
def test_what_goes_wrong_in_the_function_is_told_with_its_place(module: Path, name: str, message: str) -> None:
    with pytest.raises(AcidtestError, match=message):
        model(name).predict(["a", "b"], ["c", "d"])


def test_the_fingerprint_changes_with_the_file(module: Path) -> None:
    before = model("labels").fingerprint
    module.write_text(MODULE + "\n# changed\n")
    sys.modules.pop("their_model")
    importlib.invalidate_caches()
    assert before is not None
    assert model("labels").fingerprint != before


def test_two_functions_of_a_module_have_different_fingerprints(module: Path) -> None:
    assert model("labels").fingerprint != model("two").fingerprint
    assert model("labels").fingerprint == model("labels").fingerprint


def test_the_fingerprint_changes_with_what_the_module_imports_from_its_folder(module: Path) -> None:
    (module.parent / "their_helper.py").write_text("LABEL = 'neutral'\n")
    module.write_text("from their_helper import LABEL\n" + MODULE)
    before = model("labels").fingerprint
    (module.parent / "their_helper.py").write_text("LABEL = 'contradiction'\n")
    sys.modules.pop("their_model")
    sys.modules.pop("their_helper")
    importlib.invalidate_caches()
    assert model("labels").fingerprint != before
    sys.modules.pop("their_helper")


def test_the_fingerprint_does_not_depend_on_what_else_is_loaded(module: Path) -> None:
    before = model("labels").fingerprint
    (module.parent / "another_model.py").write_text("def f(p, h): return ['neutral'] * len(p)\n")
    importlib.invalidate_caches()
    model_from_spec("python:another_model:f")
    assert model("labels").fingerprint == before
    sys.modules.pop("another_model")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of somebody's code; what is loaded from it is forgotten at the end."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    before = set(sys.modules)
    yield tmp_path
    forget(before)


def forget(before: set[str]) -> None:
    """Forget the modules loaded since, as a new process has."""
    for name in set(sys.modules) - before:
        del sys.modules[name]
    importlib.invalidate_caches()


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)


BODY = "def predict(p, h):\n    {}\n    return ['neutral'] * len(p)\n"

REACHED = {
    "in a function": {"their.py": BODY.format("from helper import LABEL"), "helper.py": "LABEL = 1"},
    "renamed": {"their.py": BODY.format("import pack.helper as x"), "pack/helper.py": "LABEL = 1"},
    "a package above": {"their.py": BODY.format("import a.b.c"), "a/__init__.py": "L = 1", "a/b/c.py": ""},
    "the package around": {"their/__init__.py": "L = 1", "their/model.py": BODY.format("pass")},
    "relative": {"their/__init__.py": "", "their/model.py": BODY.format("from .w import L"), "their/w.py": "L = 1"},
    "relative module": {"their/__init__.py": "", "their/model.py": BODY.format("from . import w"), "their/w.py": "1"},
    "star": {
        "their.py": "from p import *\n" + BODY.format("pass"),
        "p/__init__.py": "__all__ = ['s']",
        "p/s.py": "L = 1",
    },
    "by name": {
        "their.py": "from importlib import import_module as load\n" + BODY.format("load('helper')"),
        "helper.py": "LABEL = 1",
    },
    "by relative name": {
        "their/__init__.py": "",
        "their/model.py": "import importlib\n" + BODY.format("importlib.import_module('.w', __package__)"),
        "their/w.py": "L = 1",
    },
    "by __import__": {"their.py": BODY.format("__import__('helper')"), "helper.py": "LABEL = 1"},
    "of a helper": {"their.py": BODY.format("import one"), "one.py": "def f(): import two", "two.py": "LABEL = 1"},
    "without a parent": {
        "their.py": "try:\n    from . import helper\nexcept ImportError:\n    import helper\n" + BODY.format("pass"),
        "helper.py": "LABEL = 1",
    },
    "nested folders without __init__": {"their.py": BODY.format("from x.y.z import L"), "x/y/z.py": "L = 1"},
}


@pytest.mark.parametrize("files", REACHED.values(), ids=REACHED.keys())
def test_the_fingerprint_sees_every_import(project: Path, files: dict[str, str]) -> None:
    write(project, files)
    spec = "python:their.model:predict" if "their/model.py" in files else "python:their:predict"
    loaded, found = set(sys.modules), []
    imported = next(name for name, source in files.items() if source in ("LABEL = 1", "L = 1", "1"))
    for content in (files[imported], "changed = 1", files[imported]):
        write(project, {imported: content})
        found.append(model_from_spec(spec).fingerprint)
        forget(loaded)
    assert found[0] is not None
    assert found[0] == found[2] != found[1]


def test_nothing_is_loaded_to_find_what_a_function_imports(project: Path) -> None:
    write(project, {"their.py": BODY.format("import pack.helper"), "pack/__init__.py": "1/0", "pack/helper.py": "1/0"})
    assert model_from_spec("python:their:predict").fingerprint is not None
    assert "pack" not in sys.modules


UNCLEAR = {
    "a computed name": ("import importlib\n" + BODY.format("importlib.import_module(p[0])"), "line 3 imports a module"),
    "a name passed on": ("import importlib\nload = importlib.import_module\n" + BODY.format("pass"), "line 2 imports"),
    "__import__": (BODY.format("__import__('help' + 'er')"), "line 2 imports a module whose name is made"),
    "a source read": (BODY.format("exec(open('helper.py').read())"), "line 2 runs code by exec"),
    "a path": (BODY.format("import runpy; runpy.run_path('helper.py')"), "line 2 runs code by run_path"),
}


@pytest.mark.parametrize(("source", "reason"), UNCLEAR.values(), ids=UNCLEAR.keys())
def test_code_whose_imports_cannot_be_known_has_no_fingerprint_and_says_why(
    project: Path, source: str, reason: str
) -> None:
    write(project, {"their.py": source})
    found = model_from_spec("python:their:predict")
    assert found.fingerprint is None
    assert f"(their.py, {reason}" in found.notes[0]
    assert found.notes[0].endswith("so no answers are kept; set its attribute fingerprint to change that")


def test_a_fingerprint_of_the_models_own_needs_none_of_its_code(project: Path) -> None:
    write(project, {"their.py": BODY.format("__import__(p[0])") + "predict.fingerprint = 'checkpoint-1'\n"})
    found = model_from_spec("python:their:predict")
    assert (found.fingerprint, found.notes, found.keep) == ("checkpoint-1", (), "always")


def test_a_compiled_module_is_known_by_its_bytes(project: Path) -> None:
    write(project, {"their.py": BODY.format("import helper")})
    loaded, found = set(sys.modules), []
    for content in ("LABEL = 1", "LABEL = 2"):
        write(project, {"source/helper.py": content})
        py_compile.compile(str(project / "source/helper.py"), str(project / "helper.pyc"), doraise=True)
        found.append(model_from_spec("python:their:predict").fingerprint)
        forget(loaded)
    assert None not in found
    assert found[0] != found[1]


def test_a_model_that_is_compiled_itself_is_known_by_its_bytes(project: Path) -> None:
    loaded, found = set(sys.modules), []
    for label in ("neutral", "entailment"):
        write(project, {"source/their.py": BODY.format("pass").replace("neutral", label)})
        py_compile.compile(str(project / "source/their.py"), str(project / "their.pyc"), doraise=True)
        found.append(model_from_spec("python:their:predict").fingerprint)
        forget(loaded)
    assert None not in found
    assert found[0] != found[1]


def test_an_extension_module_is_known_by_its_bytes(project: Path) -> None:
    write(project, {"their.py": BODY.format("import fast"), "fast" + EXTENSION_SUFFIXES[0]: "not run"})
    loaded = set(sys.modules)
    before = model_from_spec("python:their:predict").fingerprint
    forget(loaded)
    write(project, {"fast" + EXTENSION_SUFFIXES[0]: "not run either"})
    assert before is not None
    assert model_from_spec("python:their:predict").fingerprint != before


def test_code_that_is_loaded_unseen_costs_the_fingerprint(project: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(project, {"their.py": BODY.format("import middle"), "source/middle.py": "import hidden", "hidden.py": ""})
    py_compile.compile(str(project / "source/middle.py"), str(project / "middle.pyc"), doraise=True)
    found = model_from_spec("python:their:predict")
    assert found.fingerprint is not None
    with caplog.at_level(NOTE, logger="acidtest"):
        found.predict(["a"], ["b"])
    assert found.fingerprint is None
    assert "hidden" in caplog.text
    assert "is imported in a way that does not show in the source" in caplog.text
    # The module stays loaded: the next model of this process would not notice.
    assert model_from_spec("python:their:predict").fingerprint is None


def test_the_script_that_was_started_is_not_code_of_the_model(project: Path) -> None:
    # multiprocessing loads it again under a name of its own.
    source = "import sys, types\n" + BODY.format("sys.modules['__mp_main__'] = m = types.ModuleType('m')").replace(
        "    return", "    m.__file__ = 'main.py'\n    return"
    )
    write(project, {"their.py": source, "main.py": ""})
    found = model_from_spec("python:their:predict")
    found.predict(["a"], ["b"])
    assert found.fingerprint is not None


def test_code_that_was_loaded_unseen_with_the_module_costs_the_fingerprint_every_time(project: Path) -> None:
    write(
        project, {"their.py": "import middle\n" + BODY.format("pass"), "s/middle.py": "import hidden", "hidden.py": ""}
    )
    py_compile.compile(str(project / "s/middle.py"), str(project / "middle.pyc"), doraise=True)
    for _ in range(2):
        assert model_from_spec("python:their:predict").fingerprint is None


def test_code_edited_between_the_fingerprint_and_its_import_costs_the_fingerprint(project: Path) -> None:
    write(project, {"their.py": BODY.format("import helper"), "helper.py": "LABEL = 1"})
    found = model_from_spec("python:their:predict")
    write(project, {"helper.py": "LABEL = 2"})
    found.predict(["a"], ["b"])
    assert found.fingerprint is None


def test_code_edited_after_it_was_loaded_has_no_fingerprint(project: Path) -> None:
    write(project, {"their.py": BODY.format("pass")})
    loaded = set(sys.modules)
    assert model_from_spec("python:their:predict").fingerprint is not None
    write(project, {"their.py": BODY.format("p = p")})
    stale = model_from_spec("python:their:predict")
    assert stale.fingerprint is None
    assert "their.py was changed after it was loaded; start Python anew" in stale.notes[0]
    forget(loaded)
    assert model_from_spec("python:their:predict").fingerprint is not None


def test_installed_packages_are_not_read(project: Path) -> None:
    write(project, {"their.py": "import numpy, polars.io\n" + BODY.format("import scipy.stats, json, acidtest.core")})
    files = fingerprint_code(model_from_spec("python:their:predict").name.split(":")[1]).files
    assert list(files) == ["their"]


@pytest.mark.parametrize("way", ["sys.exit(3)", "raise SystemExit", "exit()", "argparse.ArgumentParser().error('x')"])
def test_a_model_that_ends_the_program_is_told_so(project: Path, way: str, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, {"their.py": "import sys, argparse\n" + BODY.format(way), "ends.py": f"import sys, argparse\n{way}"})
    asker = Asker(model_from_spec("python:their:predict"))
    batch = Batch(0, pl.DataFrame({"_id": ["1"], "premise": ["a"], "hypothesis": ["b"]}), np.zeros(1, np.uint64))
    with pytest.raises(AcidtestError, match=r"model 'python:their:predict' called sys.exit\(.*their.py, line 3\)"):
        asker.ask(batch)
    with pytest.raises(
        AcidtestError, match=r"python:ends:predict: importing ends called sys.exit\(.*ends.py, line 2\)"
    ):
        model_from_spec("python:ends:predict")


def test_ctrl_c_in_a_model_is_ctrl_c(project: Path) -> None:
    write(project, {"their.py": BODY.format("raise KeyboardInterrupt")})
    asker = Asker(model_from_spec("python:their:predict"))
    with pytest.raises(KeyboardInterrupt):
        asker.ask(Batch(0, pl.DataFrame({"_id": "1", "premise": "a", "hypothesis": "b"}), np.zeros(1, np.uint64)))


def test_one_text_for_all_pairs_is_refused() -> None:
    with pytest.raises(AcidtestError, match="gave the text 'entailment'; expected a list with a row or a label for"):
        complete_model(lambda premises, hypotheses: "entailment").predict(["a"], ["b"])


COMPLEX = [[0.5 + 1j, 0.5, 0.0]]


@pytest.mark.parametrize(
    "values",
    [COMPLEX, np.array(COMPLEX), np.array(COMPLEX, object), np.array([[np.complex64(1), 0.0, 0.0]], object)],
    ids=["list", "array", "objects", "numpy objects"],
)
def test_complex_numbers_are_refused(values: object) -> None:
    with pytest.raises(AcidtestError, match="gave rows that are no table of numbers"):
        complete_model(lambda premises, hypotheses: values).predict(["a"], ["b"])


@pytest.mark.parametrize(
    "values", [[["0.5", "0.25", "0.25"]], np.array([[0.5, 0.25, 0.25]], object), [[0.5, "0.25", 0.25]]]
)
def test_numbers_as_texts_and_objects_are_read(values: object) -> None:
    assert complete_model(lambda premises, hypotheses: values).predict(["a"], ["b"]).tolist() == [[0.5, 0.25, 0.25]]


@pytest.mark.parametrize(("given", "taken"), [("", None), (None, None), (7, "7"), ("x", "x")])
def test_a_fingerprint_is_a_text_or_a_number(given: object, taken: str | None) -> None:
    assert complete_model(SimpleNamespace(predict=len, fingerprint=given)).fingerprint == taken


def test_another_fingerprint_is_refused() -> None:
    with pytest.raises(AcidtestError, match="fingerprint is of type list; expected a text or an integer"):
        complete_model(SimpleNamespace(predict=len, fingerprint=[1]))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("python:their_model", "write python:MODULE:FUNCTION"),
        ("their_model.py", "is a file of Python; name a function in it: python:their_model:FUNCTION"),
        ("python:no_such_module:f", "there is no module 'no_such_module' here"),
        ("python:their_model.py:labels", "there is no module 'their_model.py' here; write their_model, without .py"),
        ("python:../their_model:labels", "write python:MODULE:FUNCTION"),
        ("python:their_model:Whole", "is a class; give an object of it"),
        ("python:their_model:hungry", "batch_size is -1; it is a number from 1 on"),
        ("python:their_model:misspelt", "resolution is 'twoway', not three-way or two-way"),
        ("python:broken_model:f", r"importing broken_model raised SyntaxError: .*broken_model.py, line 1"),
        ("python:gpu_model:f", r"importing gpu_model raised RuntimeError: no GPU \(.*gpu_model.py, line 2"),
        ("python:their_model:number", "is int; expected a function or an object with predict"),
        ("python:their_model:label", r"no function in their_model called 'label'; did you mean 'labels'"),
    ],
)
def test_a_mistaken_spec_is_explained(module: Path, spec: str, message: str) -> None:
    with pytest.raises(AcidtestError, match=message):
        model_from_spec(spec)
