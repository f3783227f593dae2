"""Checkpoints of the transformers library, from disk or the hub, opened without running anything of theirs."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acidtest.core.errors import AcidtestError, FileError, some
from acidtest.core.extras import required
from acidtest.core.logs import log
from acidtest.core.structured import check_json_bounds, read_json

HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")

WANTED = ("*.json", "*.txt", "*.model", "*.jinja", "model*.safetensors")
"""What is fetched from the hub: never pickles, never code."""

TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")

DECIDING = (
    *TOKENIZER_FILES,
    *("config.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "merges.txt"),
    *("sentence_bert_config.json", "model.safetensors.index.json"),
)
"""Files beside the weights that what a model answers depends on."""

_CHUNK = 1 << 22
_WEIGHTS, _INDEX = "model.safetensors", "model.safetensors.index.json"
_SAVE_AGAIN = "save it anew from the model"


@dataclass(frozen=True)
class WeightIndex:
    """Which file holds which tensor."""

    weight_map: dict[str, str]


@dataclass(frozen=True)
class SentenceConfiguration:
    """What sentence-transformers says of a model, as far as it matters here."""

    max_seq_length: int | None = None


@dataclass(frozen=True)
class SentenceModule:
    """A part of a sentence-transformers folder."""

    path: str = ""
    type: str = ""


@dataclass(frozen=True)
class Checkpoint:
    """A folder with a model's weights, configuration and tokenizer, and how to speak of it."""

    spec: str
    folder: Path

    @property
    def weights(self) -> tuple[Path, ...]:
        """The safetensors files, in order of name; as transformers has it, one whole file goes before an index.

        An index names files of its own folder only: anything else may be a pickle, or somebody else's.
        """
        whole, index = self.folder / _WEIGHTS, self.folder / _INDEX
        if whole.is_file() or not index.is_file():
            return (whole,) if whole.is_file() else ()
        names = sorted(set(read_json(index, WeightIndex, remedy=_SAVE_AGAIN, foreign=True).weight_map.values()))
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
        """How many tokens a sentence-transformers folder allows, where it says so."""
        path = self.folder / "sentence_bert_config.json"
        if not path.is_file():
            return None
        length = read_json(path, SentenceConfiguration, remedy=_SAVE_AGAIN, foreign=True).max_seq_length
        return length if length and length > 0 else None

    def digest(self, *settings: object) -> str:
        """A hash of what decides the answers: weights, configuration, tokenizer, and these settings."""
        found = hashlib.blake2b(digest_size=16)
        files = {path for pattern in DECIDING for path in self.folder.glob(pattern)}
        for path in (*sorted(files), *self.weights):
            found.update(f"{path.name}\0{path.stat().st_size}\0".encode())
            for chunk in _chunks(path):
                found.update(chunk)
        found.update(repr(settings).encode())
        return found.hexdigest()


def checkpoint(rest: str, *, kind: str = "hf") -> Checkpoint:
    """The folder a spec means: one on this machine, that of an installed package, or one fetched from the hub."""
    spec = f"{kind}:{rest}"
    if not rest:
        raise AcidtestError(f"{spec} names nothing; write {kind}:FOLDER or {kind}:NAME of a model on the hub")
    path = Path(rest).expanduser()
    if path.is_file():
        raise AcidtestError(f"{spec} is a file; name the folder that holds config.json and model.safetensors")
    if not path.is_dir() and (not HUB_NAME.fullmatch(rest) or rest.startswith(".")):
        raise AcidtestError(f"{spec}: there is no folder {rest!r}")
    found = Checkpoint(spec, path if path.is_dir() else _packaged(rest) or _fetched(rest, spec))
    _refuse_unfit(found)
    return found


def encoder_checkpoint(name: str) -> Checkpoint:
    """The encoder a user names: a folder, an installed package that carries one, or a hub name fetched before.

    Nothing is fetched, and what stands on top of the encoder does not matter.
    """
    spec = f"encoder {name}"
    path = Path(name).expanduser()
    if path.is_file():
        raise AcidtestError(f"{spec} is a file; name the folder that holds config.json and model.safetensors")
    found = Checkpoint(spec, path if path.is_dir() else _packaged(name) or _cached(name, spec))
    _refuse_unfit(found)
    return found


def loaded_tokenizer(found: Checkpoint) -> Any:
    """The checkpoint's own tokenizer."""
    (transformers,) = required("transformers")
    _refuse_malformed(found)
    if not any(path for pattern in TOKENIZER_FILES for path in found.folder.glob(pattern)):
        raise AcidtestError(
            f"{found.spec} has no tokenizer ({', '.join(TOKENIZER_FILES)}); save the one it was trained with "
            f"into {found.folder} with tokenizer.save_pretrained"
        )
    with _quiet(transformers):
        try:
            return transformers.AutoTokenizer.from_pretrained(
                found.folder, local_files_only=True, trust_remote_code=False
            )
        except Exception as error:
            raise _told(found, "its tokenizer cannot be opened", error) from error


def loaded_classifier(found: Checkpoint, dtype: Any) -> Any:
    """The checkpoint's sequence classifier in evaluation mode; a head it does not hold is refused, never drawn."""
    model, refusal = load_with_head(found, dtype)
    if refusal is not None:
        raise refusal
    return model


def load_with_head(found: Checkpoint, dtype: Any) -> tuple[Any, AcidtestError | None]:
    """The checkpoint's network with a head for sequences, in evaluation mode, and why it cannot be asked, if it cannot.

    The head of a plain encoder is random: its layers can be looked at, its outputs mean nothing. A network that lacks
    other weights is refused.
    """
    (transformers,) = required("transformers", "torch")[:1]
    _refuse_malformed(found)
    with _quiet(transformers):
        try:
            model, told = transformers.AutoModelForSequenceClassification.from_pretrained(
                found.folder,
                dtype=dtype,
                use_safetensors=True,
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
        except Exception as error:
            raise _told(found, "it cannot be opened as a sequence classifier", error) from error
    missing = sorted({*told["missing_keys"], *(str(key) for key in told["mismatched_keys"])})
    encoder = f"{model.base_model_prefix}."
    lacking = [key for key in missing if key.startswith(encoder) and ".pooler." not in key]
    if lacking:
        raise AcidtestError(f"{found.spec}: its weights lack {some(lacking, 3)}; they are not those of its config.json")
    return model.eval(), _refusal(found, missing)


def _refusal(found: Checkpoint, missing: Sequence[str]) -> AcidtestError | None:
    """Why a network gives no labels, with what can be done; None where it does."""
    instead = "name a checkpoint that was fine-tuned on inference; acidtest representations can look into its layers"
    if parts := _other_parts(found):
        return AcidtestError(
            f"{found.spec} is a sentence-transformers folder of several parts ({some(parts)}); only a plain "
            f"cross-encoder, whose classifier is the model itself, gives labels: {instead}"
        )
    if missing:
        return AcidtestError(
            f"{found.spec} is not a sequence classifier: it has no weights for {some(missing, 3)}, and random ones "
            f"would answer nothing; {instead}"
        )
    return None


def classifier_config(found: Checkpoint, labels: Sequence[str]) -> Any:
    """The configuration of a sequence classifier for these labels on the encoder of a checkpoint."""
    (transformers,) = required("transformers")
    _refuse_malformed(found)
    try:
        return transformers.AutoConfig.from_pretrained(
            found.folder,
            id2label=dict(enumerate(labels)),
            label2id={label: number for number, label in enumerate(labels)},
            local_files_only=True,
            trust_remote_code=False,
        )
    except Exception as error:
        raise _told(found, "its config.json cannot be opened", error) from error


def drawn_classifier(config: Any) -> Any:
    """A sequence classifier whose weights are all drawn, by torch's own generator."""
    torch, transformers = required("torch", "transformers")
    return transformers.AutoModelForSequenceClassification.from_config(config, dtype=torch.float32)


def begun_classifier(found: Checkpoint, config: Any) -> Any:
    """A sequence classifier to be trained: the encoder of a checkpoint under a head that is drawn.

    A head that the checkpoint has is not taken over: its labels may be others, or in another order.
    """
    torch, transformers = required("torch", "transformers")
    model = drawn_classifier(config)
    with _quiet(transformers):
        try:
            held, told = type(model).from_pretrained(
                found.folder,
                config=config,
                dtype=torch.float32,
                use_safetensors=True,
                local_files_only=True,
                ignore_mismatched_sizes=True,
                output_loading_info=True,
            )
        except Exception as error:
            raise _told(found, "it cannot be opened as an encoder", error) from error
    # Checkpoints trained on masked words alone have no pooler; it is drawn with the head.
    own = f"{model.base_model_prefix}."
    missing = sorted(key for key in told["missing_keys"] if key.startswith(own) and ".pooler." not in key)
    if missing:
        raise AcidtestError(f"{found.spec}: its weights lack {some(missing, 3)}; they are not those of its config.json")
    model.base_model.load_state_dict(held.base_model.state_dict())
    return model


def most_positions(model: Any) -> int | None:
    """How many tokens the positions of a model allow; None where they have no end."""
    positions: int | None = getattr(model.config, "max_position_embeddings", None)
    for name, module in model.named_modules():
        # RoBERTa and its kin number positions from after the padding token on.
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            positions = module.num_embeddings - module.padding_idx - 1
    # XLNet says -1 of what has no end.
    return positions if positions and positions > 0 else None


def _refuse_unfit(found: Checkpoint) -> None:
    folder = found.folder
    if (folder / "adapter_config.json").is_file():
        # Beside a whole model, too: transformers would open what it names, which may be a pickle elsewhere.
        raise AcidtestError(
            f"{found.spec} is an adapter, or has one (adapter_config.json), and is not a whole model; merge it first: "
            f"model.merge_and_unload(), then save_pretrained"
        )
    if not (folder / "config.json").is_file():
        raise AcidtestError(f"{found.spec} has no config.json: it is not a checkpoint of transformers")
    if not found.weights:
        raise AcidtestError(
            f"{found.spec} has no model.safetensors. Pickled weights (pytorch_model.bin) are never opened, because "
            f"they can run code; where you trust them, write them anew with "
            f"AutoModelForSequenceClassification.from_pretrained(…).save_pretrained(FOLDER)"
        )
    absent = [path.name for path in found.weights if not path.is_file()]
    if absent:
        raise AcidtestError(f"{found.spec}: the index of its weights names {some(absent)}, which is not there")


def _refuse_malformed(found: Checkpoint) -> None:
    """Raise for JSON that the library would stumble over, and for a configuration that leads out of the folder."""
    for name in sorted({name for name in DECIDING if name.endswith(".json")} - {"config.json", _INDEX}):
        if (found.folder / name).is_file():
            check_json_bounds(found.folder / name, remedy=_SAVE_AGAIN)
    path = found.folder / "config.json"
    for key, value in _entries(read_json(path, dict[str, Any], remedy=_SAVE_AGAIN, foreign=True)):
        if key == "transformers_weights":
            raise FileError(path, f"{key}: names other weights than {_WEIGHTS}, which are not opened; remove the key")
        # A name with a slash is code on the hub, fetched and run.
        if "_implementation" in key and "/" in str(value):
            raise FileError(path, f"{key}: {value!r} is code from elsewhere, which is never run; remove the key")


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    """All keys of an object and of those inside it, with their values."""
    if isinstance(value, dict):
        yield from value.items()
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _entries(inner)


def _other_parts(found: Checkpoint) -> list[str]:
    """What follows the encoder in a folder of sentence-transformers: pooling and the like."""
    path = found.folder / "modules.json"
    modules = read_json(path, list[SentenceModule], remedy=_SAVE_AGAIN, foreign=True) if path.is_file() else []
    return [module.type.rpartition(".")[2] for module in modules if module.path]


def _packaged(name: str) -> Path | None:
    """The folder ``model`` of an installed package, which is not imported for it."""
    module = name.replace("-", "_")
    spec = importlib.util.find_spec(module) if module.isidentifier() else None
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(place) / "model" / "config.json").is_file():
            return Path(place) / "model"
    return None


def _cached(name: str, spec: str) -> Path:
    (hub,) = required("huggingface_hub")
    missing = f"{spec}: there is no folder and no installed package of that name"
    if not HUB_NAME.fullmatch(name) or name.startswith("."):
        raise AcidtestError(missing)
    try:
        return Path(hub.snapshot_download(name, allow_patterns=list(WANTED), local_files_only=True))
    except Exception as error:
        raise AcidtestError(
            f"{missing}, and it was not fetched from the hub yet; where there is a network, fetch it with: "
            f"hf download {name}"
        ) from error


def _fetched(name: str, spec: str) -> Path:
    (hub,) = required("huggingface_hub")
    try:
        return Path(hub.snapshot_download(name, allow_patterns=list(WANTED)))
    except Exception as error:
        log.debug("%s: %r", spec, error)
        kind = type(error).__name__
        if kind in ("RepositoryNotFoundError", "HFValidationError", "RevisionNotFoundError"):
            what = "the hub has no model of that name, or it is private"
        elif kind == "GatedRepoError":
            what = "the hub lets only some people have it: ask for it on its page, then log in with: hf auth login"
        else:
            what = "it is not on this machine and the hub cannot be reached"
        raise AcidtestError(
            f"{spec}: there is no folder of that name, and {what} ({kind}); name a folder, or fetch it where there is "
            f"a network with: hf download {name}"
        ) from error


def _told(found: Checkpoint, what: str, error: Exception) -> AcidtestError:
    log.debug("%s: %r", found.spec, error)
    text = " ".join(str(error).split())
    if "trust_remote_code" in text:
        return AcidtestError(f"{found.spec} needs code from its own repository, which is never run")
    return AcidtestError(f"{found.spec}: {what}: {text[:300]}")


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """Without the library's progress bars and remarks: what matters of them is said by us."""
    logging = transformers.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk
