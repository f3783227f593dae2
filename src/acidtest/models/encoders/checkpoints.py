"""Checkpoints of the transformers library, from disk or the hub, opened without running any of their code."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from acidtest.core.errors import AcidtestError, FileError, import_optional, list_some
from acidtest.core.files import chunks
from acidtest.core.logs import log
from acidtest.core.settings import require_requested
from acidtest.core.structured import check_json_bounds, read_json

T = TypeVar("T")

HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")

HUB_FILES = ("*.json", "*.txt", "*.model", "*.jinja", "model*.safetensors")
"""What is fetched from the hub: never pickles, never code."""

TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")

DIGESTED_FILES = (
    *TOKENIZER_FILES,
    *("config.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "merges.txt"),
    *("sentence_bert_config.json", "model.safetensors.index.json"),
)
"""Files beside the weights that answers depend on."""

_WEIGHTS, _INDEX = "model.safetensors", "model.safetensors.index.json"
_REMEDY = "save it anew from the model"


@dataclass(frozen=True)
class WeightIndex:
    """Which file holds which tensor."""

    weight_map: dict[str, str]


@dataclass(frozen=True)
class SentenceModule:
    """Fields read from sentence_bert_config.json, and from the entries of modules.json."""

    max_seq_length: int | None = None
    path: str = ""
    type: str = ""


@dataclass(frozen=True)
class Checkpoint:
    """A folder with a model's weights, configuration and tokenizer; messages name it by ``spec``."""

    spec: str
    folder: Path

    @property
    def weights(self) -> tuple[Path, ...]:
        """The safetensors files sorted by name; as in transformers, a single file is preferred to an index.

        An index may only name safetensors files in its own folder: others may be pickles, or another model's.
        """
        whole, index = self.folder / _WEIGHTS, self.folder / _INDEX
        if whole.is_file() or not index.is_file():
            return (whole,) if whole.is_file() else ()
        names = sorted(set(self.read(_INDEX, WeightIndex).weight_map.values()))
        for name in names:
            if not re.fullmatch(r"[^/\\:]+\.safetensors", name):
                raise FileError(
                    index,
                    f"weight_map: names {name!r}; only files of the same folder that end in .safetensors are opened, "
                    f"because pickled weights can run code",
                )
        return tuple(self.folder / name for name in names)

    @property
    def longest(self) -> int | None:
        """The most tokens that sentence_bert_config.json allows; None without such a limit."""
        if not (self.folder / "sentence_bert_config.json").is_file():
            return None
        length = self.read("sentence_bert_config.json", SentenceModule).max_seq_length
        return length if length and length > 0 else None

    def read(self, file: str, shape: type[T]) -> T:
        return read_json(self.folder / file, shape, remedy=_REMEDY, foreign=True)

    def digest(self, *settings: object) -> str:
        """A hash of what decides the answers: weights, configuration, tokenizer, and these settings."""
        files = {path for pattern in DIGESTED_FILES for path in self.folder.glob(pattern)}
        headers = {path: f"{path.name}\0{path.stat().st_size}\0" for path in (*sorted(files), *self.weights)}
        return digest_files(headers, settings)


def digest_files(headers: Mapping[Path, str], settings: Sequence[object]) -> str:
    """A hash of files, each preceded by its header, and of settings."""
    digest = hashlib.blake2b(digest_size=16)
    for path, header in headers.items():
        digest.update(header.encode())
        for chunk in chunks(path):
            digest.update(chunk)
    digest.update(repr(settings).encode())
    return digest.hexdigest()


def find_checkpoint(rest: str) -> Checkpoint:
    """The checkpoint that ``hf:`` names: a folder, one in an installed package, or one fetched from the hub."""
    spec = f"hf:{rest}"
    if not rest:
        raise AcidtestError(f"{spec} names nothing; write hf:FOLDER or hf:NAME of a model on the hub")
    path = Path(rest).expanduser()
    if not path.exists() and not _is_hub_name(rest):
        raise AcidtestError(f"{spec}: there is no folder {rest!r}")
    return _open(spec, path, lambda: _package_folder(rest) or _fetch(rest, spec))


def find_encoder(name: str) -> Checkpoint:
    """The encoder that a user names: a folder, one in an installed package, or one fetched from the hub before.

    Nothing is fetched now. The encoder may have any head or none.
    """
    spec = f"encoder {name}"
    return _open(spec, Path(name).expanduser(), lambda: _package_folder(name) or _cached_folder(name, spec))


def _open(spec: str, path: Path, elsewhere: Callable[[], Path]) -> Checkpoint:
    """The checkpoint in ``path``, or in the folder from ``elsewhere``; refused if incomplete, an adapter or pickled."""
    if path.is_file():
        raise AcidtestError(f"{spec} is a file; name the folder that holds config.json and model.safetensors")
    folder = path if path.is_dir() else elsewhere()
    checkpoint = Checkpoint(spec, folder)
    if (folder / "adapter_config.json").is_file():
        # Refused beside a whole model, too: transformers would open the weights that it names, perhaps a pickle.
        raise AcidtestError(
            f"{spec} is an adapter, or has one (adapter_config.json), and is not a whole model; merge it first: "
            f"model.merge_and_unload(), then save_pretrained"
        )
    if not (folder / "config.json").is_file():
        raise AcidtestError(f"{spec} has no config.json: it is not a checkpoint of transformers")
    if not checkpoint.weights:
        raise AcidtestError(
            f"{spec} has no model.safetensors. Pickled weights (pytorch_model.bin) are never opened, because "
            f"they can run code; where you trust them, write them anew with "
            f"AutoModelForSequenceClassification.from_pretrained(…).save_pretrained(FOLDER)"
        )
    if absent := [path.name for path in checkpoint.weights if not path.is_file()]:
        raise AcidtestError(f"{spec}: the index of its weights names {list_some(absent)}, which is not there")
    return checkpoint


def load_tokenizer(checkpoint: Checkpoint) -> Any:
    (transformers,) = import_optional("transformers")
    if not any(path for pattern in TOKENIZER_FILES for path in checkpoint.folder.glob(pattern)):
        raise AcidtestError(
            f"{checkpoint.spec} has no tokenizer ({', '.join(TOKENIZER_FILES)}); save the one it was trained with "
            f"into {checkpoint.folder} with tokenizer.save_pretrained"
        )
    with _loading(checkpoint, "its tokenizer cannot be opened"):
        return transformers.AutoTokenizer.from_pretrained(
            checkpoint.folder, local_files_only=True, trust_remote_code=False
        )


def load_classifier(checkpoint: Checkpoint, dtype: Any) -> Any:
    """The checkpoint's sequence classifier in evaluation mode; one without a trained head is refused."""
    model, problem = load_with_head(checkpoint, dtype)
    if problem is not None:
        raise problem
    return model


def load_with_head(checkpoint: Checkpoint, dtype: Any) -> tuple[Any, AcidtestError | None]:
    """The checkpoint's network with a classification head, and an error to raise if its outputs are no labels.

    A plain encoder gets a random head: its layers can be examined, but its outputs mean nothing. A network that lacks
    weights of the encoder is refused.
    """
    (transformers,) = import_optional("transformers", "torch")[:1]
    with _loading(checkpoint, "it cannot be opened as a sequence classifier"):
        model, info = transformers.AutoModelForSequenceClassification.from_pretrained(
            checkpoint.folder,
            **_precision(dtype),
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    missing = sorted({*info["missing_keys"], *(str(key) for key in info["mismatched_keys"])})
    _refuse_incomplete_encoder(checkpoint, model, missing)
    has_modules = (checkpoint.folder / "modules.json").is_file()
    modules = checkpoint.read("modules.json", list[SentenceModule]) if has_modules else []
    # The parts after the encoder, such as pooling, have a folder each.
    parts = [module.type.rpartition(".")[2] for module in modules if module.path]
    instead = "name a checkpoint that was fine-tuned on inference; acidtest representations can look into its layers"
    problem = None
    if parts:
        problem = AcidtestError(
            f"{checkpoint.spec} is a sentence-transformers folder of several parts ({list_some(parts)}); only a plain "
            f"cross-encoder, whose classifier is the model itself, gives labels: {instead}"
        )
    elif missing:
        problem = AcidtestError(
            f"{checkpoint.spec} is not a sequence classifier: no weights for {list_some(missing, 3)}, and random "
            f"ones would answer nothing; {instead}"
        )
    return model.eval(), problem


def _refuse_incomplete_encoder(checkpoint: Checkpoint, model: Any, missing: Sequence[str]) -> None:
    """Refuse missing encoder weights, except the pooler's: checkpoints trained only on masked words have none."""
    prefix = f"{model.base_model_prefix}."
    lacking = [key for key in missing if key.startswith(prefix) and ".pooler." not in key]
    if lacking:
        raise AcidtestError(
            f"{checkpoint.spec}: its weights lack {list_some(lacking, 3)}; they are not those of its config.json"
        )


def classifier_config(checkpoint: Checkpoint, labels: Sequence[str]) -> Any:
    """The configuration of a sequence classifier for these labels on the encoder of a checkpoint."""
    (transformers,) = import_optional("transformers")
    with _loading(checkpoint, "its config.json cannot be opened"):
        return transformers.AutoConfig.from_pretrained(
            checkpoint.folder,
            id2label=dict(enumerate(labels)),
            label2id={label: number for number, label in enumerate(labels)},
            local_files_only=True,
            trust_remote_code=False,
        )


def random_classifier(config: Any) -> Any:
    """A sequence classifier with random weights, drawn by torch's global generator."""
    torch, transformers = import_optional("torch", "transformers")
    return transformers.AutoModelForSequenceClassification.from_config(config, **_precision(torch.float32))


def start_classifier(checkpoint: Checkpoint, config: Any) -> Any:
    """A sequence classifier to be trained: the encoder of a checkpoint under a random head.

    The checkpoint's own head is not used: its labels may differ, or be in another order.
    """
    (torch,) = import_optional("torch")
    model = random_classifier(config)
    with _loading(checkpoint, "it cannot be opened as an encoder"):
        loaded, info = type(model).from_pretrained(
            checkpoint.folder,
            config=config,
            **_precision(torch.float32),
            use_safetensors=True,
            local_files_only=True,
            ignore_mismatched_sizes=True,
            output_loading_info=True,
        )
    _refuse_incomplete_encoder(checkpoint, model, sorted(info["missing_keys"]))
    model.base_model.load_state_dict(loaded.base_model.state_dict())
    return model


def _precision(dtype: Any) -> dict[str, Any]:
    """The option of transformers that says in which precision weights are loaded; its name changed in 4.56."""
    (transformers,) = import_optional("transformers")
    version = tuple(int(part) for part in transformers.__version__.split(".")[:2])
    return {"dtype" if version >= (4, 56) else "torch_dtype": dtype}


def most_positions(model: Any) -> int | None:
    """The most tokens that a model's position embeddings allow; None where there is no limit."""
    positions: int | None = getattr(model.config, "max_position_embeddings", None)
    for name, module in model.named_modules():
        # RoBERTa and its relatives start positions after the number of the padding token.
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            positions = module.num_embeddings - module.padding_idx - 1
    # XLNet has -1 for no limit.
    return positions if positions and positions > 0 else None


def _refuse_unsafe_json(checkpoint: Checkpoint) -> None:
    """Raise for JSON that is too large or too deep, and for a configuration that names other weights or code."""
    for name in sorted({name for name in DIGESTED_FILES if name.endswith(".json")} - {"config.json", _INDEX}):
        if (checkpoint.folder / name).is_file():
            check_json_bounds(checkpoint.folder / name, remedy=_REMEDY)
    path = checkpoint.folder / "config.json"
    for key, value in _walk_json(checkpoint.read("config.json", dict[str, Any])):
        if key == "transformers_weights":
            raise FileError(path, f"{key}: names other weights than {_WEIGHTS}, which are not opened; remove the key")
        # A name with a slash is code on the hub, which transformers would fetch and run.
        if "_implementation" in key and "/" in str(value):
            raise FileError(path, f"{key}: {value!r} is code from elsewhere, which is never run; remove the key")


def _walk_json(value: Any) -> Iterator[tuple[str, Any]]:
    """All keys and values of an object and of the objects inside it."""
    if isinstance(value, dict):
        yield from value.items()
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from _walk_json(inner)


def _is_hub_name(name: str) -> bool:
    return HUB_NAME.fullmatch(name) is not None and not name.startswith(".")


def _package_folder(name: str) -> Path | None:
    """The folder ``model`` of an installed package, found without importing it; None without one."""
    module = name.replace("-", "_")
    spec = importlib.util.find_spec(module) if module.isidentifier() else None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(folder) / "model" / "config.json").is_file():
            return Path(folder) / "model"
    return None


def _cached_folder(name: str, spec: str) -> Path:
    missing = f"{spec}: there is no folder and no installed package of that name"
    if not _is_hub_name(name):
        raise AcidtestError(missing)
    (hub,) = import_optional("huggingface_hub")
    try:
        return Path(hub.snapshot_download(name, allow_patterns=list(HUB_FILES), local_files_only=True))
    except Exception as error:
        problem = f"{missing}, and it was not fetched from the hub yet"
        raise AcidtestError(f"{problem}; where there is a network, fetch it with: hf download {name}") from error


def _fetch(name: str, spec: str) -> Path:
    require_requested(spec, f"asks a server for a model: {spec}")
    (hub,) = import_optional("huggingface_hub")
    try:
        return Path(hub.snapshot_download(name, allow_patterns=list(HUB_FILES)))
    except Exception as error:
        log.debug("%s: %r", spec, error)
        kind = type(error).__name__
        reason = "it is not on this machine and the hub cannot be reached"
        if kind in ("RepositoryNotFoundError", "HFValidationError", "RevisionNotFoundError"):
            reason = "the hub has no model of that name, or it is private"
        elif kind == "GatedRepoError":
            reason = "access to it on the hub is restricted: ask for it on its page, then log in with: hf auth login"
        problem = f"{spec}: there is no folder of that name, and {reason} ({kind})"
        advice = f"name a folder, or fetch it where there is a network with: hf download {name}"
        raise AcidtestError(f"{problem}; {advice}") from error


@contextmanager
def _loading(checkpoint: Checkpoint, problem: str) -> Iterator[None]:
    """Refuses unsafe JSON, silences the library, and reports its exceptions as a problem of the checkpoint."""
    (transformers,) = import_optional("transformers")
    _refuse_unsafe_json(checkpoint)
    logging = transformers.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    except Exception as error:
        log.debug("%s: %r", checkpoint.spec, error)
        text = " ".join(str(error).split())
        if "trust_remote_code" in text:
            text = f"{checkpoint.spec} needs code from its own repository, which is never run"
        else:
            text = f"{checkpoint.spec}: {problem}: {text[:300]}"
        raise AcidtestError(text) from error
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
