"""Tokenizers read from a file by the tokenizers library alone, without transformers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from acidtest.core.errors import AcidtestError
from acidtest.core.extras import required
from acidtest.core.structured import check_json_bounds


class FileTokenizer:
    """A ``tokenizer.json`` with as much of a transformers tokenizer's manners as ``PairTokenizer`` asks for."""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        (tokenizers,) = required("tokenizers", extra="onnx")
        check_json_bounds(path, remedy="save it anew from the model")
        try:
            self.backend_tokenizer = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:
            raise AcidtestError(f"{path}: this is no file of the tokenizers library ({error})") from error
        padding = self.backend_tokenizer.padding or {}
        self.padding: int | None = padding.get("pad_id")
        self.backend_tokenizer.no_padding()
        self.backend_tokenizer.no_truncation()
        self.model_input_names = tuple(names)

    def num_special_tokens_to_add(self, *, pair: bool) -> int:
        """Tokens that are set around one sentence, or around and between two."""
        return int(self.backend_tokenizer.num_special_tokens_to_add(pair))

    def __call__(
        self,
        first: str | list[str],
        second: str | list[str] | None = None,
        *,
        add_special_tokens: bool = True,
        truncation: Literal["only_first", "longest_first"] | None = None,
        max_length: int | None = None,
        return_attention_mask: bool = False,
    ) -> dict[str, Any]:
        """Tokens and types of one text or pair, or of many; there is never a mask, whether asked for or not."""
        inner = self.backend_tokenizer
        if truncation is not None:
            inner.enable_truncation(max_length, strategy=truncation)
        try:
            if isinstance(first, str):
                found = inner.encode(first, second, add_special_tokens=add_special_tokens)
                return {"input_ids": found.ids, "token_type_ids": found.type_ids}
            texts = first if second is None else list(zip(first, second, strict=True))
            several = inner.encode_batch(texts, add_special_tokens=add_special_tokens)
        finally:
            inner.no_truncation()
        return {"input_ids": [one.ids for one in several], "token_type_ids": [one.type_ids for one in several]}
