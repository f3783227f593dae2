"""``reference``: the small model of the package, which needs only NumPy; ``reference:FOLDER``: such a model on disk."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.files import ZipArchive, read_bytes
from acidtest.core.labels import LABELS
from acidtest.core.logs import stage
from acidtest.core.model import MODELS, Model, Resolution
from acidtest.models.encoders.numpy_encoders import NumpyEncoder
from acidtest.models.encoders.pair_tokens import PairAssembler, PairTemplate, TokenizedPairs
from acidtest.models.encoders.sentence_tokens import BETWEEN, FIRST, UncasedPieces, WordTokens
from acidtest.models.encoders.token_classifiers import Floats, TokenClassifier
from acidtest.models.label_maps import LabelMap

BUNDLED = Path(__file__).parents[1] / "data" / "reference"
WEIGHTS, VOCABULARY = "weights.npz", "vocabulary.txt"

MAX_LENGTH = 128
"""Most pieces in a pair; the model was trained on shorter pairs."""

SCALE = ".scale"
"""Suffix for the array of factors that belong to the rows of an integer array."""

HEAD_SIZE = "head_size"


class ReferenceModel(TokenClassifier):
    """A small BERT with three outputs, computed with NumPy."""

    resolution: Resolution = "three-way"
    independent = True
    batch_size = 2048

    def __init__(self, folder: Path, name: str) -> None:
        # Not splitlines: a piece may be a character at which splitlines would split.
        words = read_bytes(folder / VOCABULARY).decode("utf-8").removesuffix("\n").split("\n")
        self._encoder = load_encoder(folder / WEIGHTS)
        if self._encoder.words != len(words) or self._encoder.outputs != len(LABELS):
            raise FileError(
                folder / WEIGHTS,
                f"has {self._encoder.words:,} words and {self._encoder.outputs} outputs; expected {len(words):,} as "
                f"in {VOCABULARY} beside it, and {len(LABELS)}; they do not belong together",
            )
        super().__init__(name, uncased_tokenizer(words, min(MAX_LENGTH, self._encoder.longest)))
        self._map = LabelMap(LABELS, "its own order")
        self.layers = ("embeddings", *(f"layer {number + 1}" for number in range(len(self._encoder.layers))))
        digest = blake2b(f"{self.limit}".encode(), digest_size=16)
        for file in (WEIGHTS, VOCABULARY):
            digest.update(read_bytes(folder / file))
        self.fingerprint: str | None = digest.hexdigest()

    def representations(self, *columns: Sequence[str]) -> npt.NDArray[np.float32]:
        """float32[layers, pairs, 2 * width]: the maximum over a pair's tokens, then the state of its first token."""
        tokens = self.prepare(*columns)
        result = np.empty((len(self.layers), len(tokens.rows), 2 * self._encoder.width), dtype=np.float32)
        for rows, states in self._encoder.hidden(tokens):
            for number, layer in enumerate(states):
                result[number, rows] = np.concatenate([layer.max(axis=1), layer[:, 0]], axis=1)
        return result

    def _compute(self, tokens: TokenizedPairs) -> tuple[Floats, int]:
        return self._encoder.logits(tokens), 0


def uncased_tokenizer(vocabulary: Sequence[str], longest: int) -> PairAssembler:
    """The tokenizer of an uncased BERT with this vocabulary, for pairs of at most ``longest`` pieces."""
    pieces = UncasedPieces(vocabulary)
    first, between = pieces.numbers[FIRST], pieces.numbers[BETWEEN]
    template = PairTemplate((first,), (between,), (between,), (0, 0, 0, 1, 1))
    return PairAssembler(template, WordTokens(pieces).sentences, longest)


@MODELS.add("reference")
def reference(rest: str) -> Model:
    """The model in the package, or that of a folder which tools/reference/export.py wrote."""
    folder = Path(rest).expanduser() if rest else BUNDLED
    if not (folder / WEIGHTS).is_file():
        problem = f"{folder} holds no {WEIGHTS}" if rest else "this installation came without the reference model"
        raise AcidtestError(f"reference: {problem}; name another model with --model")
    name = f"reference:{folder.resolve().name}" if rest else "reference"
    stage("loading %s", name)
    return ReferenceModel(folder, name)


def load_encoder(path: Path) -> NumpyEncoder:
    """The encoder from a file of weights, stored as floats, or as integers with a factor for each row."""
    try:
        with ZipArchive(path, kind="file of weights") as members:
            members.require_small()
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise FileError(path, f"is no file of weights ({error})") from error
    weights = {name: restore_floats(array, arrays.get(name + SCALE)) for name, array in arrays.items()}
    if HEAD_SIZE not in weights:
        raise FileError(path, f"does not say its {HEAD_SIZE}; write it with tools/reference/export.py")
    return NumpyEncoder(weights, int(weights[HEAD_SIZE]))


def restore_floats(array: npt.NDArray[np.generic], scale: npt.NDArray[np.generic] | None) -> Floats:
    """An array as float32, each row multiplied by its factor if ``scale`` is given."""
    floats = np.asarray(array, dtype=np.float32)
    return floats if scale is None else floats * np.asarray(scale, dtype=np.float32)[:, None]
