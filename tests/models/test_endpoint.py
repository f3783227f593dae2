"""``endpoint:`` against servers on loopback that behave."""

from __future__ import annotations

import json
import logging
import math
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.core.model import CountsUsage, Model, model_from_spec
from acidtest.models.endpoint import EndpointModel, EndpointOptions
from acidtest.models.prompts import load_prompt
from acidtest.models.servers import RequestOptions, SystemAccess

KEY = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def make_model() -> Iterator[Callable[..., Any]]:
    """Makes models, and closes them."""
    opened = list[Any]()

    def make(address: str, **options: Any) -> Model:
        opened.append(model_from_spec(f"endpoint:tiny@{address}", options))
        return opened[-1]

    yield make
    for opened_model in opened:
        opened_model.close()


def logs(**values: float) -> dict[str, float]:
    return {token: math.log(value) for token, value in values.items()}


def test_probabilities_come_from_log_probabilities(loopback: Any, sent: Any, body: Any, make_model: Any) -> None:
    top = logs(ent=0.5, neutral=0.25, contr=0.05)
    server = loopback(lambda request: sent(body("entailment", top)))
    model = make_model(server.url)
    assert model.predict(["p"] * 3, ["h"] * 3) == pytest.approx(np.array([[0.625, 0.3125, 0.0625]] * 3))
    assert model.probabilities
    assert model.usage()["unassigned"] == pytest.approx(0.2)
    request = server.requests[0]
    assert request.path == "/v1/chat/completions"
    assert {name: request.json[name] for name in request.json if name != "messages"} == {
        "model": "tiny",
        "max_tokens": 16,
        "temperature": 0.0,
        "logprobs": True,
        "top_logprobs": 20,
    }
    assert "Premise: p\nHypothesis: h\n" in request.json["messages"][1]["content"]
    assert "authorization" not in request.headers


def test_without_log_probabilities_labels_come_from_the_text(
    loopback: Any, sent: Any, body: Any, make_model: Any, caplog: pytest.LogCaptureFixture
) -> None:
    server = loopback(lambda request: sent(body("Contradiction.")))
    model = make_model(server.url)
    assert model.predict(["p", "q"], ["h", "h"]).tolist() == [[0, 0, 1], [0, 0, 1]]
    assert not model.probabilities
    assert "logprobs" in server.requests[0].json
    assert "logprobs" not in server.requests[1].json
    assert "gives no log-probabilities" in caplog.text


def test_text_is_asked_for_where_that_is_wanted(loopback: Any, sent: Any, body: Any, make_model: Any) -> None:
    server = loopback(lambda request: sent(body("neutral")))
    model = make_model(server.url, answers="text")
    assert not model.probabilities
    assert model.predict(["p"], ["h"]).tolist() == [[0, 1, 0]]
    assert "logprobs" not in server.requests[0].json


def test_log_probabilities_that_are_insisted_on_must_come(loopback: Any, sent: Any, body: Any, make_model: Any) -> None:
    server = loopback(lambda request: sent(body("neutral")))
    with pytest.raises(AcidtestError, match="gives no log-probabilities; use --answers text"):
        make_model(server.url, answers="logprobs").predict(["p"], ["h"])


def test_a_server_that_takes_fewer_log_probabilities_is_asked_for_fewer(
    loopback: Any, sent: Any, body: Any, make_model: Any
) -> None:
    def script(request: Any) -> Any:
        if request.json.get("top_logprobs", 0) > 5:
            return sent(b'{"error": {"message": "top_logprobs must be at most 5"}}', status=400)
        return sent(body("neutral", logs(neutral=1.0)))

    server = loopback(script)
    assert make_model(server.url).predict(["p", "q"], ["h", "h"]).tolist() == [[0, 1, 0], [0, 1, 0]]
    assert [request.json["top_logprobs"] for request in server.requests] == [20, 5, 5]


def test_newer_names_of_settings_are_learnt(loopback: Any, sent: Any, body: Any, make_model: Any) -> None:
    def script(request: Any) -> Any:
        if "max_tokens" in request.json:
            problem = "Unsupported parameter: use 'max_completion_tokens' instead."
            return sent(json.dumps({"error": {"message": problem}}).encode(), status=400)
        if "logprobs" in request.json:
            return sent(b'{"error": {"message": "logprobs are not supported with this model"}}', status=400)
        return sent(body("neutral"))

    server = loopback(script)
    assert make_model(server.url).predict(["p", "q"], ["h", "h"]).tolist() == [[0, 1, 0], [0, 1, 0]]
    assert len(server.requests) == 5
    assert server.requests[-1].json["max_completion_tokens"] == 16


def test_a_completion_server_is_asked_to_go_on_with_a_text(loopback: Any, sent: Any, make_model: Any) -> None:
    logprobs = {
        "tokens": [" neutral"],
        "token_logprobs": [0.0],
        "top_logprobs": [logs(**{" neutral": 0.9, " ent": 0.1})],
    }
    answer = json.dumps({"choices": [{"text": " neutral", "logprobs": logprobs}]}).encode()
    server = loopback(lambda request: sent(answer))
    model = make_model(server.url, api="completions")
    assert model.predict(["p"], ["h"]) == pytest.approx(np.array([[0.1, 0.9, 0.0]]))
    request = server.requests[0]
    assert request.path == "/v1/completions"
    assert request.json["logprobs"] == 20
    assert request.json["prompt"].endswith("\nAnswer:")
    assert "prompt_tokens" not in model.usage()


def test_replies_that_mean_nothing_are_unanswered_and_shown(
    loopback: Any, sent: Any, body: Any, make_model: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def script(request: Any) -> Any:
        text = request.json["messages"][1]["content"]
        return sent(body("entailment or neutral" if "Premise: odd" in text else "neutral"))

    model = make_model(loopback(script).url)
    rows = model.predict(["p", "odd", "p"], ["h", "h", "h"])
    assert np.isnan(rows[1]).all()
    assert rows[[0, 2]].tolist() == [[0, 1, 0], [0, 1, 0]]
    assert model.usage()["unparsed"] == model.usage()["unanswered"] == 1
    assert "no label: several answers: 'entailment or neutral' for premise 'odd'" in caplog.text
    assert any("1 of 3 pairs unanswered" in note for note in model.notes)


def test_a_reply_that_was_cut_off_says_so(loopback: Any, sent: Any, body: Any, make_model: Any) -> None:
    model = make_model(loopback(lambda request: sent(body("Let me think", finish_reason="length"))).url, max_tokens=3)
    assert np.isnan(model.predict(["p"], ["h"])).all()
    assert any("no answer within 3 tokens" in note for note in model.notes)


def test_what_the_server_filters_is_unanswered(loopback: Any, sent: Any, body: Any, make_model: Any) -> None:
    def script(request: Any) -> Any:
        if request.number == 0:
            return sent(body(None, finish_reason="content_filter"))
        if request.number == 1:
            return sent(b'{"error": {"message": "The response was filtered", "code": "content_filter"}}', status=400)
        return sent(body("neutral", logs(neutral=1.0)))

    model = make_model(loopback(script).url, concurrency=1)
    rows = model.predict(["a", "b", "c"], ["h"] * 3)
    assert np.isnan(rows).all(axis=1).tolist() == [True, True, False]
    assert model.probabilities, "a filtered reply does not tell whether there are log-probabilities"
    assert model.usage()["refused"] == 2


def test_a_pair_that_is_too_long_is_named(loopback: Any, sent: Any, body: Any, make_model: Any) -> None:
    def script(request: Any) -> Any:
        if "long" in request.json["messages"][1]["content"]:
            problem = {"message": "This model's maximum context length is 8 tokens", "code": "context_length_exceeded"}
            return sent(json.dumps({"error": problem}).encode(), status=400)
        return sent(body("neutral"))

    server = loopback(script)
    with pytest.raises(AcidtestError, match=r"maximum context length is 8 tokens.*premise 'long long.*--skip-refused"):
        make_model(server.url).predict(["p", "long " * 50], ["h", "h"])
    patient = make_model(server.url, skip_refused="true")
    assert np.isnan(patient.predict(["p", "long " * 50], ["h", "h"])[:, 0]).tolist() == [False, True]


def by_position(request: Any, sent: Any, body: Any) -> Any:
    """A model that always takes the first choice."""
    return sent(body("A", logs(A=0.8, B=0.2)))


def test_several_orders_are_averaged_and_changes_counted(loopback: Any, sent: Any, body: Any, make_model: Any) -> None:
    server = loopback(lambda request: by_position(request, sent, body))
    model = make_model(server.url, prompt="letters", orders=3)
    # A is each label once (0.8), and so is B (0.2): a model that goes by position alone is left with thirds.
    assert model.predict(["p"], ["h"]) == pytest.approx(np.full((1, 3), 1 / 3), abs=1e-6)
    # The first order is sent twice.
    assert len(server.requests) == 4
    assert model.usage()["order_changes"] == model.usage()["reorder_changes"] == 1
    assert (model.usage()["repeat_compared"], model.usage()["repeat_changes"]) == (1, 0)
    assert "sent twice, the same prompt gets another answer for 0 of 1 pairs" in model.notes
    assert "with another order of the answers the answer changes for 1 of 1 pairs" in model.notes
    assert model.batch_size == 10


def test_of_labels_the_commonest_wins_and_of_equals_the_first(
    loopback: Any, sent: Any, body: Any, make_model: Any
) -> None:
    server = loopback(lambda request: sent(body("A")))
    assert make_model(server.url, prompt="letters", orders=3).predict(["p"], ["h"]).tolist() == [[1, 0, 0]]


def test_paraphrases_are_averaged_and_changes_counted(loopback: Any, sent: Any, body: Any, make_model: Any) -> None:
    def script(request: Any) -> Any:
        question = "Going by the text alone" in request.json["messages"][1]["content"]
        return sent(body("Yes", logs(Yes=1.0)) if question else body("neutral", logs(neutral=1.0)))

    model = make_model(loopback(script).url, paraphrases="questions,truth")
    # The truth prompt knows neither word.
    assert model.predict(["p"], ["h"]).tolist() == [[0.5, 0.5, 0.0]]
    assert model.usage()["paraphrase_changes"] == model.usage()["reprompt_changes"] == 1
    assert model.usage()["unparsed"] == 1
    assert model.usage()["unanswered"] == 0


def test_two_answers_make_a_two_way_model(loopback: Any, sent: Any, body: Any, make_model: Any) -> None:
    model = make_model(
        loopback(lambda request: sent(body("unsupported", logs(supp=0.25, uns=0.75)))).url, prompt="supported"
    )
    assert model.resolution == "two-way"
    assert model.predict(["p"], ["h"]) == pytest.approx(np.array([[0.25, 0.75, 0.0]]))


def test_a_judge_that_abstains_is_unanswered_but_told_from_one_that_cannot_be_read(
    loopback: Any, sent: Any, body: Any, make_model: Any, caplog: pytest.LogCaptureFixture
) -> None:
    replies = {"a": "Cannot tell.", "b": "Not supported.", "c": "I would rather talk about boats."}

    def script(request: Any) -> Any:
        content = request.json["messages"][1]["content"]
        return sent(body(next(reply for claim, reply in replies.items() if f"\nClaim: {claim}\n" in content)))

    model = make_model(loopback(script).url, prompt="grounding")
    rows = model.predict(["p"] * 3, ["a", "b", "c"], [None] * 3)
    assert model.resolution == "two-way"
    assert rows[1].tolist() == [0, 1, 0]
    assert np.isnan(rows[[0, 2]]).all()
    usage = model.usage()
    assert (usage["unanswered"], usage["abstained"], usage["unparsed"]) == (2, 1, 1)
    assert "the model abstained for 1 of 3 pairs: they count as unanswered" in model.notes
    assert "1 of 3 pairs unanswered (replies: 1 no answer)" in model.notes
    assert "Cannot tell" not in caplog.text


def test_a_judge_abstains_where_that_is_likelier_than_each_label(
    loopback: Any, sent: Any, body: Any, make_model: Any
) -> None:
    likely = {"a": logs(supported=0.3, Cannot=0.5, **{"not": 0.2}), "b": logs(supported=0.6, Cannot=0.2, un=0.2)}

    def script(request: Any) -> Any:
        claim = "a" if "\nClaim: a\n" in request.json["messages"][1]["content"] else "b"
        return sent(body("Cannot" if claim == "a" else "supported", likely[claim]))

    model = make_model(loopback(script).url, prompt="grounding")
    rows = model.predict(["p"] * 2, ["a", "b"], [None] * 2)
    assert np.isnan(rows[0]).all()
    assert rows[1] == pytest.approx([0.75, 0.25, 0.0])


def test_the_order_that_did_not_abstain_decides(loopback: Any, sent: Any, body: Any, make_model: Any) -> None:
    def script(request: Any) -> Any:
        options = request.json["messages"][1]["content"].partition("support the claim?\n")[2]
        return sent(body("supported" if options.startswith("- supported") else "cannot tell"))

    model = make_model(loopback(script).url, prompt="grounding", orders=3)
    assert model.predict(["p"], ["h"], [None]).tolist() == [[1, 0, 0]]
    assert "abstained" not in model.usage()


def test_the_question_is_given_apart_where_the_prompt_has_a_place_for_it(
    loopback: Any, sent: Any, body: Any, make_model: Any
) -> None:
    server = loopback(lambda request: sent(body("supported")))
    model = make_model(server.url, prompt="grounding")
    assert (model.columns, model.optional) == (("premise", "hypothesis", "question"), ("question",))
    model.predict(["p"], ["Question: When? Answer: 1931"], ["When?"])
    assert "\nQuestion: When?\nClaim: 1931\n" in server.requests[0].json["messages"][1]["content"]
    assert make_model(server.url, prompt="supported").columns == ("premise", "hypothesis")


def test_prompts_of_two_and_of_three_answers_do_not_mix(make_model: Any) -> None:
    with pytest.raises(AcidtestError, match="cannot be asked together"):
        make_model("http://127.0.0.1:1/v1", paraphrases="supported")


def test_a_prompt_may_come_from_a_file(loopback: Any, sent: Any, body: Any, make_model: Any, tmp_path: Path) -> None:
    text = 'schema = 1\ntitle = "t"\nuser = "{premise}/{hypothesis}"\n'
    for label, word in (("entailment", "ja"), ("neutral", "vielleicht"), ("contradiction", "nein")):
        text += f'[[answer]]\nlabel = "{label}"\nwords = ["{word}"]\n'
    (tmp_path / "german.toml").write_text(text, encoding="utf-8")
    server = loopback(lambda request: sent(body("Nein")))
    model = make_model(server.url, prompt=str(tmp_path / "german.toml"))
    assert model.predict(["{premise}"], ["{}"]).tolist() == [[0, 0, 1]]
    assert server.requests[0].json["messages"] == [{"role": "user", "content": "{premise}/{}"}]


def test_usage_counts_requests_tokens_and_money(loopback: Any, sent: Any, body: Any, make_model: Any) -> None:
    model = make_model(loopback(lambda request: sent(body("neutral"))).url, price_in=2.0, price_out=10.0)
    assert isinstance(model, CountsUsage)
    model.predict(["p"] * 5, ["h"] * 5)
    usage = dict(model.usage())
    assert usage.pop("seconds") > 0
    # 5 · (100 · 2 + 2 · 10) / 1,000,000
    assert usage == {
        "requests": 5,
        "retries": 0,
        "prompt_tokens": 500,
        "completion_tokens": 10,
        "cost": pytest.approx(0.0011),
        "unanswered": 0,
        "unparsed": 0,
        "refused": 0,
    }


def test_a_cost_that_cannot_be_known_is_not_told(loopback: Any, sent: Any, body: Any, make_model: Any) -> None:
    model = make_model(loopback(lambda request: sent(body("neutral", usage=False))).url, price_in=2.0)
    model.predict(["p"], ["h"])
    assert "cost" not in model.usage()
    assert "the cost is unknown: the server does not count its tokens" in model.notes


def test_as_many_requests_are_under_way_as_may_be_over_connections_that_stay(
    loopback: Any, sent: Any, body: Any, make_model: Any, patience: float
) -> None:
    gate = threading.Barrier(4)

    def script(request: Any) -> Any:
        if request.number:
            gate.wait(timeout=patience)
        return sent(body("neutral"))

    server = loopback(script)
    model = make_model(server.url, concurrency=4)
    model.predict(["p"] * 9, ["h"] * 9)
    model.predict(["p"] * 8, ["h"] * 8)
    assert server.busiest == 4
    assert len(server.connections) <= 4


def test_the_key_is_sent_and_nowhere_seen(
    loopback: Any,
    sent: Any,
    body: Any,
    make_model: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("MY_KEY", f" {KEY}\n")
    caplog.set_level(logging.DEBUG)
    server = loopback(
        lambda request: sent(body(f"I was sent {request.headers['authorization']}"), headers={"X-Echo": KEY})
    )
    model = make_model(server.url, key_env="MY_KEY")
    assert np.isnan(model.predict(["p"], ["h"])).all()
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in " ".join([repr(model), str(model.fingerprint), model.name, *model.notes, str(vars(model))])
    ours = [record.getMessage() for record in caplog.records if record.name == "acidtest"]
    assert any("[key]" in text for text in ours)
    assert not any(KEY in text for text in ours)


def test_the_fingerprint_knows_what_changes_answers_and_nothing_else(make_model: Any) -> None:
    address = "http://127.0.0.1:1/v1"
    plain = make_model(address).fingerprint
    same = ({"concurrency": 3}, {"rate": 5}, {"timeout": 9}, {"key_env": "X"}, {"price_in": 1}, {"retries": 0})
    assert {make_model(address, **options).fingerprint for options in same} == {plain}
    others = (
        {"prompt": "letters"},
        {"paraphrases": "truth"},
        {"orders": 2},
        {"api": "completions"},
        {"answers": "text"},
        {"temperature": 0.5},
        {"max_tokens": 4},
    )
    fingerprints = {plain, *(make_model(address, **options).fingerprint for options in others)}
    fingerprints |= {make_model("http://127.0.0.1:2/v1").fingerprint, make_model("http://127.0.0.1:1/v2").fingerprint}
    assert len(fingerprints) == len(others) + 3
    assert make_model(f"{address}/").fingerprint == plain


def test_a_whole_run_is_made_and_read_back_without_the_server(
    loopback: Any, sent: Any, body: Any, tmp_path: Path
) -> None:
    server = loopback(lambda request: sent(body("entailment")))
    spec = f"endpoint:tiny@{server.url}"
    made = api.run(spec, ["hans"], limit=40, output=tmp_path / "run")
    number = len(server.requests)
    assert made.results["suites"]["hans"]["overall"]["value"] == pytest.approx(0.5, abs=0.05)
    assert not made.results["model"]["probabilities"]
    server.close()
    again = api.run(spec, ["hans"], limit=40, output=tmp_path / "run")
    assert not again.fresh
    assert len(server.requests) == number


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """Ctrl-C as Python has it: a shell that starts a program in the background has it ignore the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="this system cannot interrupt one thread")
def test_ctrl_c_does_not_wait_for_an_answer(
    loopback: Any, sent: Any, body: Any, make_model: Any, patience: float
) -> None:
    answered = threading.Event()

    def script(request: Any) -> Any:
        if request.number:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            server.released.wait(timeout=patience)
            answered.set()
        return sent(body("neutral"))

    server = loopback(script)
    model = make_model(server.url, concurrency=1)
    model.predict(["p"], ["h"])
    with pytest.raises(KeyboardInterrupt):
        model.predict(["p"], ["h"])
    assert not answered.is_set()


def test_a_model_works_where_an_event_loop_runs_already(loopback: Any, sent: Any, body: Any, make_model: Any) -> None:
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    model = make_model(loopback(lambda request: sent(body("neutral"))).url)

    async def notebook() -> Any:
        return model.predict(["p"], ["h"]).tolist()

    # A browser of another test may have left a loop running in this thread.
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(lambda: asyncio.run(notebook())).result() == [[0, 1, 0]]


def test_a_model_that_was_closed_opens_again(loopback: Any, sent: Any, body: Any, make_model: Any) -> None:
    model = make_model(loopback(lambda request: sent(body("neutral"))).url)
    model.predict(["p"], ["h"])
    model.close()
    assert model.predict(["p"], ["h"]).tolist() == [[0, 1, 0]]


def test_a_model_travels_to_another_process_without_its_key(
    loopback: Any, sent: Any, body: Any, make_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = make_model(loopback(lambda request: sent(body("neutral"))).url)
    model.predict(["p"], ["h"])
    packed = pickle.dumps(model)
    assert KEY.encode() not in packed
    there = pickle.loads(packed)  # noqa: S301
    assert there.predict(["p"], ["h"]).tolist() == [[0, 1, 0]]
    there.close()


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("gpt", "needs a model and an address"),
        ("@http://h/v1", "needs a model and an address"),
        ("m@ftp://h/v1", "needs a model and an address"),
        ("m@http:///v1", "is not http or https"),
        ("m@http://h:port/v1", "is no URL"),
        (f"m@http://me:{KEY}@h/v1", "has a name, a password or a query in it"),
        (f"m@http://h/v1?key={KEY}", "has a name, a password or a query in it"),
    ],
)
def test_a_wrong_address_is_told_without_its_secrets(rest: str, message: str) -> None:
    with pytest.raises(AcidtestError, match=message) as caught:
        model_from_spec(f"endpoint:{rest}")
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"concurrency": "0"}, "--concurrency is a number from 1 on, not 0"),
        ({"timeout": "0"}, "--timeout is a number from 0.001 on"),
        ({"rate": "-1"}, "--rate is a number from 0 on"),
        ({"rate": "nan"}, "--rate is a number from 0 on"),
        ({"max_tokens": "two"}, "--max-tokens needs a whole number"),
        ({"api": "chats"}, "--api is chat or completions, not 'chats'"),
        ({"prompt": "leters"}, "did you mean 'letters'"),
        ({"orders": "7"}, "has 6 orders"),
        ({"promt": "letters"}, "did you mean 'prompt'"),
    ],
)
def test_a_wrong_option_is_told(options: dict[str, str], message: str) -> None:
    with pytest.raises(AcidtestError, match=message):
        model_from_spec("endpoint:m@http://127.0.0.1:1/v1", options)


def test_a_model_name_may_have_slashes_colons_and_at_signs(make_model: Any) -> None:
    model = model_from_spec("endpoint:org/model:7b@q4@https://h.example/v1")
    assert model.name == "endpoint:org/model:7b@q4@https://h.example/v1"


def test_without_httpx_the_install_line_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(AcidtestError, match=r"pip install 'acidtest\[endpoint\]'"):
        model_from_spec("endpoint:m@http://127.0.0.1:1/v1")


def test_requests_keep_to_the_rate(loopback: Any, sent: Any, body: Any) -> None:
    now, slept = [0.0], list[float]()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    system = SystemAccess(environment={}, sleep=sleep, clock=lambda: now[0], chance=lambda: 0.0)
    asking = EndpointOptions("tiny", loopback(lambda request: sent(body("neutral"))).url, (load_prompt("labels"),))
    model = EndpointModel(asking, requests=RequestOptions(concurrency=1, rate=30), system=system)
    model.predict(["p"] * 4, ["h"] * 4)
    model.close()
    # 30 a minute: one every two seconds.
    assert slept == [2.0, 2.0, 2.0]
