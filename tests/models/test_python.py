import importlib
import sys
from pathlib import Path

import pytest

from acidtest.core.errors import AcidtestError
from acidtest.core.model import Model, model_from_spec

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
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "broken_model.py").write_text("def f(:\n")
    (tmp_path / "gpu_model.py").write_text("\nraise RuntimeError('no GPU')\n")
    path = tmp_path / "their_model.py"
    path.write_text(MODULE)
    importlib.invalidate_caches()
    sys.modules.pop("their_model", None)
    return path


def model(name: str) -> Model:
    return model_from_spec(f"python:their_model:{name}")


def test_a_function_gives_probabilities(module: Path) -> None:
    assert model("probabilities").predict(["a"], ["b"]).round(1).tolist() == [
        [pytest.approx(v) for v in (0.7, 0.2, 0.1)]
    ]


def test_a_function_gives_label_names_in_any_spelling(module: Path) -> None:
    assert model("labels").predict(["ab", "ab"], ["a", "x"]).tolist() == [[1, 0, 0], [0, 0, 1]]


def test_a_function_with_two_labels_must_say_so(module: Path) -> None:
    with pytest.raises(AcidtestError, match="set its attribute resolution = 'two-way'"):
        model("two").predict(["a"], ["b"])
    assert model("declared").resolution == "two-way"
    assert model("declared").predict(["a"], ["b"]).tolist() == [[0, 1, 0]]


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
        ("nothing", "gave NoneType; expected a row or a label for each pair"),
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


def test_the_fingerprint_of_a_package_covers_its_other_modules(module: Path) -> None:
    package = module.parent / "their_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "words.py").write_text("LABEL = 'neutral'\n")
    (package / "model.py").write_text("from .words import LABEL\ndef f(p, h): return [LABEL] * len(p)\n")
    importlib.invalidate_caches()
    before = model_from_spec("python:their_package.model:f").fingerprint
    (package / "words.py").write_text("LABEL = 'entailment'\n")
    assert model_from_spec("python:their_package.model:f").fingerprint != before
    for name in [name for name in sys.modules if name.startswith("their_package")]:
        sys.modules.pop(name)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("python:their_model", "write python:MODULE:FUNCTION"),
        ("python:no_such_module:f", "there is no module 'no_such_module' here"),
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
