from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("fastapi", reason="the annotation server needs acidtest[annotate]")
pytest.importorskip("httpx", reason="the test client needs httpx")

from starlette.testclient import TestClient

from acidtest.annotate.app import annotation_app, cookie_names, encode_invitation
from acidtest.annotate.exchange import project_answers
from acidtest.annotate.guards import MAX_BODY_BYTES, SECURITY_HEADERS, Guard, is_loopback
from acidtest.annotate.projects import Credentials, Project
from acidtest.api import PlanOptions, annotation_project
from acidtest.core.errors import AcidtestError

HEADERS = {"X-Acidtest": "1", "Content-Type": "application/json"}
YES = {"same_event": "yes", "new_information": "no", "ungrammatical": "no"}
HOSTILE = "</script><script>alert(1)</script> & \" ' ‮ \u2028"

Client = Callable[..., TestClient]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    pairs = pl.DataFrame(
        {"id": ["p1", "p2", "p3"], "premise": [HOSTILE] * 3, "hypothesis": ["h"] * 3, "label": ["neutral"] * 3}
    )
    url = str(tmp_path / "answers.db")
    return annotation_project(pairs, store=url, questionnaire="breaking-nli", options=PlanOptions(per_item=2))


@pytest.fixture
def client(project: Project) -> Client:
    def create(guard: Guard | None = None, host: str = "127.0.0.1:8420") -> TestClient:
        app = annotation_app(project, guard or Guard())
        return TestClient(app, base_url=f"http://{host}", headers=HEADERS, raise_server_exceptions=False)

    return create


def join_client(client: TestClient, name: str = "anna") -> TestClient:
    response = client.post("/api/join", json={"annotator": name})
    assert response.status_code == 200, response.text
    return client


def post_answers(client: TestClient, **changes: Any) -> Any:
    shown = client.get("/api/next").json()
    said = {"assignment": shown["assignment"], "answers": YES, "seconds": 2.5, "key": f"some-key-{shown['assignment']}"}
    return client.post("/api/answers", json=said | changes)


def test_an_annotator_joins_answers_takes_back_and_finishes(client: Client, project: Project) -> None:
    anna = client()
    assert anna.get("/api/project").json()["annotator"] is None
    join_client(anna, " Anna ")
    assert anna.get("/api/project").json()["annotator"] == "Anna"
    shown = anna.get("/api/next").json()
    assert set(shown) == {"assignment", "item", "answers", "seconds", "progress"}
    assert (shown["answers"], shown["seconds"]) == (None, None)
    after = post_answers(anna).json()
    assert after["progress"] == {"done": 1, "total": 3, "excluded": False}
    assert set(after["next"]) == set(shown)
    back = anna.post("/api/undo", json={}).json()
    assert (back["assignment"], back["answers"], back["seconds"]) == (shown["assignment"], YES, 2.5)
    for number in range(3):
        last = post_answers(anna, key=f"new-key-{number}").json()
    assert last["next"]["finished"] is True
    assert last["next"]["reason"]
    assert anna.get("/api/progress").json()["progress"]["done"] == 3
    assert len(project_answers(project)) == 3


def test_the_project_tells_what_is_asked_and_not_what_follows(client: Client) -> None:
    body = client().get("/api/project").json()
    assert body["title"] == "The three questions of Breaking NLI"
    assert body["shows"] == ["premise", "hypothesis"]
    questions = body["questionnaire"]["questions"]
    assert [question["id"] for question in questions] == ["same_event", "new_information", "ungrammatical"]
    assert questions[0]["options"][0] == {"id": "yes", "text": "yes", "help": "", "exclusive": False}
    assert questions[0]["when"] is None
    assert "rule" not in json.dumps(body)


def test_conditions_come_as_they_are_written(tmp_path: Path) -> None:
    pairs = pl.DataFrame({"premise": ["p"], "hypothesis": ["h"]})
    project = annotation_project(pairs, store=str(tmp_path / "a.db"), questionnaire="taxonomy-neutral")
    body = TestClient(annotation_app(project, Guard()), base_url="http://localhost").get("/api/project").json()
    assert any(question["when"] for question in body["questionnaire"]["questions"])


def test_scripts_in_a_premise_are_data(client: Client) -> None:
    response = join_client(client()).get("/api/next")
    assert response.headers["content-type"] == "application/json"
    assert response.json()["item"]["fields"]["premise"] == HOSTILE
    assert set(response.json()["item"]) == {"fields"}


def test_every_response_makes_browsers_careful(client: Client) -> None:
    anybody = client()
    for path in ("/", "/api/project", "/nothing", "/static/nothing"):
        response = anybody.get(path)
        for name, value in SECURITY_HEADERS.items():
            assert response.headers[name] == value
    assert "unsafe-inline" not in SECURITY_HEADERS["content-security-policy"]


def test_gold_and_right_answers_are_never_sent(tmp_path: Path) -> None:
    controls = tmp_path / "controls.tsv"
    controls.write_text("id\tpremise\thypothesis\tlabel\ncontrol-1\tx\tx\tentailment\n", encoding="utf-8")
    pairs = pl.DataFrame({"pairID": ["31193n"], "premise": ["p"], "hypothesis": ["h"], "label": ["neutral"]})
    options = PlanOptions(controls=controls)
    project = annotation_project(pairs, store=str(tmp_path / "a.db"), questionnaire="breaking-nli", options=options)
    anna = join_client(TestClient(annotation_app(project, Guard()), base_url="http://localhost", headers=HEADERS))
    sent = anna.get("/api/project").text + anna.get("/api/next").text + post_answers(anna).text
    assert project_answers(project, everything=True)
    # The last letter of MultiNLI's names is the label.
    for telling in ("neutral", "entailment", "31193n", "control"):
        assert telling not in sent


def test_a_name_that_is_taken_needs_its_cookie(client: Client) -> None:
    anna = join_client(client(), "Anna")
    assert anna.post("/api/join", json={"annotator": "ANNA"}).json()["annotator"] == "Anna"
    response = client().post("/api/join", json={"annotator": "anna"})
    assert response.status_code == 409
    assert "already somebody called" in response.json()["error"]


@pytest.mark.parametrize(
    "cookie", ["", "rubbish", "%%%", encode_invitation(Credentials("anna", "guessed")), "x" * 5000]
)
def test_a_forged_annotator_is_refused(client: Client, project: Project, cookie: str) -> None:
    join_client(client(), "anna")
    forger = client()
    forger.cookies.set(cookie_names(project)[0], cookie)
    for response in (forger.get("/api/next"), forger.post("/api/undo", json={}), post_answers_to(forger, 1)):
        assert response.status_code == 403
        assert "join first" in response.json()["error"]


def post_answers_to(client: TestClient, assignment: int) -> Any:
    return client.post("/api/answers", json={"assignment": assignment, "answers": YES, "key": "forged-key"})


def test_nobody_answers_for_another(client: Client) -> None:
    assignment = join_client(client(), "anna").get("/api/next").json()["assignment"]
    response = post_answers_to(join_client(client(), "ben"), assignment)
    assert (response.status_code, "not yours" in response.json()["error"]) == (403, True)


def test_cookies_are_kept_from_scripts_and_other_sites(client: Client) -> None:
    response = client().post("/api/join", json={"annotator": "anna"})
    cookie = response.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


def test_two_projects_at_one_host_do_not_lock_each_other_out(client: Client, project: Project, tmp_path: Path) -> None:
    # Browsers send cookies to every port of a host.
    pairs = pl.DataFrame({"premise": ["p"], "hypothesis": ["h"]})
    second = annotation_project(pairs, store=str(tmp_path / "b.db"), questionnaire="swaps")
    guards = Guard(token="first"), Guard(token="other")
    one = client(guards[0])
    other = TestClient(annotation_app(second, guards[1]), base_url="http://127.0.0.1:8421", headers=HEADERS)
    other.cookies = one.cookies.jar
    one.post("/api/token", json={"token": "first"})
    other.post("/api/token", json={"token": "other"})
    join_client(one, "anna")
    join_client(other, "ben")
    assert one.get("/api/progress").json()["annotator"] == "anna"
    assert other.get("/api/progress").json()["annotator"] == "ben"


@pytest.mark.parametrize(
    ("headers", "secure"),
    [
        ({}, False),
        ({"Origin": "http://label.example.org"}, False),
        ({"Origin": "https://label.example.org"}, True),
        ({"X-Forwarded-Proto": "https"}, True),
    ],
)
def test_behind_a_proxy_that_speaks_https_cookies_go_nowhere_else(
    client: Client, headers: dict[str, str], secure: bool
) -> None:
    served = client(Guard.create("127.0.0.1", allowed=("label.example.org",), token="hush"), "label.example.org")
    response = served.post("/api/token", json={"token": "hush"}, headers=headers)
    assert ("secure" in response.headers["set-cookie"].lower()) is secure


def test_joining_again_after_a_lost_reply_takes_the_same_name(client: Client) -> None:
    proof = "a-long-word-that-nobody-guesses"
    assert client().post("/api/join", json={"annotator": "Anna", "proof": proof}).status_code == 200
    anna = client()
    assert anna.post("/api/join", json={"annotator": "anna", "proof": proof}).json()["annotator"] == "Anna"
    assert anna.get("/api/next").status_code == 200
    for other in ("another-word-that-is-as-long", ""):
        assert client().post("/api/join", json={"annotator": "anna", "proof": other}).status_code == 409
    assert client().post("/api/join", json={"annotator": "ben", "proof": "short"}).status_code == 422


def test_what_is_no_text_is_told_and_breaks_nothing(client: Client) -> None:
    anna = join_client(client())
    assignment = anna.get("/api/next").json()["assignment"]
    for path, body in (
        ("/api/answers", {"assignment": assignment, "answers": {"\ud800": "yes"}, "key": "some-key-1"}),
        ("/api/answers", {"assignment": assignment, "answers": YES, "key": "some-key-1", "\ud800": 1}),
        ("/api/join", {"annotator": "\ud800"}),
    ):
        response = anna.post(path, content=json.dumps(body))
        assert (response.status_code, bool(response.json()["error"])) == (422, True)
    locked = client(Guard(token="hush"))
    assert locked.post("/api/token", content=json.dumps({"token": "\ud800"})).status_code == 422
    for headers in ({"Origin": "http://["}, {"Content-Length": "²"}):
        given = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        assert anna.post("/api/undo", content="{}", headers=given).status_code in (403, 413)


def test_tokens_are_such_as_headers_hold_and_are_not_shown() -> None:
    for token in ("schlüssel", "two\nlines"):
        with pytest.raises(AcidtestError, match="a token consists of printable ASCII characters"):
            Guard.create("127.0.0.1", token=token)
        with pytest.raises(AcidtestError, match="choose another"):
            Guard.create("127.0.0.1", admin_token=token)
    assert "hush" not in repr(Guard(token="hush", admin_token="hush"))


def test_long_texts_are_refused_and_not_remembered(tmp_path: Path) -> None:
    pairs = pl.DataFrame({"premise": ["p"], "hypothesis": ["h"], "gold": ["neutral"], "answer": ["x"]})
    project = annotation_project(pairs, store=str(tmp_path / "a.db"), questionnaire="error-types")
    served = TestClient(annotation_app(project, Guard()), base_url="http://localhost", headers=HEADERS)
    anna = join_client(served)
    assignment = anna.get("/api/next").json()["assignment"]
    said = {"assignment": assignment, "answers": {"category": "unknown", "comment": "x" * 10_001}, "key": "some-key-1"}
    response = anna.post("/api/answers", json=said)
    assert (response.status_code, response.json()["question"]) == (422, "comment")
    assert "10,001 characters; write 10,000 at most" in response.json()["error"]
    # Whoever answers for another is told so, and the answer is not looked at.
    assert anna.post("/api/answers", json=said | {"assignment": 99}).status_code == 403
    said["answers"]["comment"] = "y" * 10_000
    assert anna.post("/api/answers", json=said).status_code == 200


def test_wrong_answers_are_told_with_their_question(client: Client, project: Project) -> None:
    anna = join_client(client())
    for answers, question in (
        (YES | {"same_event": "maybe"}, "same_event"),
        ({"same_event": "yes"}, "new_information"),
        (YES | {"mood": "good"}, "mood"),
        (YES | {"ungrammatical": ["yes"]}, "ungrammatical"),
        (YES | {"ungrammatical": 1}, "ungrammatical"),
        (YES | {"ungrammatical": {"yes": True}}, "ungrammatical"),
        (YES | {"ungrammatical": "\ud800"}, "ungrammatical"),
    ):
        assignment = anna.get("/api/next").json()["assignment"]
        body = json.dumps({"assignment": assignment, "answers": answers, "key": "some-key-1"})
        response = anna.post("/api/answers", content=body)
        assert response.status_code == 422, answers
        assert response.json()["question"] == question
        assert response.json()["error"]
    assert project_answers(project, everything=True) == []


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        "null",
        '"text"',
        '{"assignment": 1}',
        '{"assignment": "1", "answers": {}, "key": "some-key-1"}',
        '{"assignment": 1, "answers": [], "key": "some-key-1"}',
        '{"assignment": 1, "answers": {}, "key": "../../etc"}',
        '{"assignment": 1, "answers": {}, "key": "some-key-1", "seconds": -1}',
        '{"assignment": 1, "answers": {}, "key": "some-key-1", "seconds": NaN}',
        '{"assignment": 1, "answers": {}, "key": "some-key-1", "annotator": "ben"}',
        '{"assignment": 99999999999999999999999, "answers": {}, "key": "some-key-1"}',
        "[" * 50_000,
        "\udcff",
    ],
)
def test_malformed_requests_are_told_as_json(client: Client, body: str) -> None:
    anna = join_client(client())
    response = anna.post("/api/answers", content=body.encode("utf-8", "surrogateescape"))
    assert 400 <= response.status_code < 500, response.text
    assert response.json()["error"]


def test_five_megabytes_are_refused(client: Client, project: Project) -> None:
    anna = join_client(client())
    said = {"assignment": 1, "answers": YES | {"same_event": "x" * 5_000_000}, "key": "some-key-1"}
    response = anna.post("/api/answers", json=said)
    assert response.status_code == 413
    assert f"larger than {MAX_BODY_BYTES // 1024} kB" in response.json()["error"]

    def pieces() -> Any:
        for _ in range(100):
            yield b"x" * 10_000

    # Without a length in front, it is counted as it comes.
    assert anna.post("/api/answers", content=pieces()).status_code == 413
    assert project_answers(project, everything=True) == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"X-Acidtest": ""}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:9999"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
    ],
)
def test_another_site_cannot_post(client: Client, project: Project, headers: dict[str, str], status: int) -> None:
    anna = join_client(client())
    said = {"assignment": anna.get("/api/next").json()["assignment"], "answers": YES, "key": "some-key-1"}
    response = anna.post("/api/answers", content=json.dumps(said), headers=headers)
    assert response.status_code == status
    assert response.json()["error"]
    assert project_answers(project, everything=True) == []


def test_the_own_page_can_post(client: Client) -> None:
    anna = join_client(client())
    said = {"assignment": anna.get("/api/next").json()["assignment"], "answers": YES, "key": "some-key-1"}
    own = {"Origin": "http://127.0.0.1:8420", "Sec-Fetch-Site": "same-origin"}
    assert anna.post("/api/answers", json=said, headers=own).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8420", "@", ""])
def test_a_name_that_somebody_points_here_is_refused(client: Client, host: str) -> None:
    response = client().get("/api/project", headers={"Host": host})
    assert response.status_code == 421
    assert "is not called" in response.json()["error"]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1:1", "[::1]:8420"])
def test_own_names_are_known(client: Client, host: str) -> None:
    assert client().get("/api/project", headers={"Host": host}).status_code == 200


def test_other_names_are_allowed_by_the_one_who_starts_it(client: Client) -> None:
    guard = Guard.create("127.0.0.1", allowed=("label.example.org",), token="hush")
    served = client(guard)
    assert served.get("/api/project", headers={"Host": "label.example.org"}).status_code == 200
    everywhere = Guard.create("0.0.0.0")
    assert everywhere.knows_host("192.168.1.5:8420")
    assert not everywhere.knows_host("evil.example")


def test_loopback_needs_no_token_and_anything_else_does() -> None:
    assert Guard.create("127.0.0.1").token == ""
    assert Guard.create("localhost").token == ""
    for guard in (Guard.create("0.0.0.0"), Guard.create("192.168.1.5"), Guard.create("127.0.0.1", allowed=("x.org",))):
        assert len(guard.token) >= 20
        assert len(guard.admin_token) >= 20
        assert guard.token != guard.admin_token
    assert is_loopback("127.8.9.1")
    assert is_loopback("::1")
    assert not is_loopback("127.0.0.1.evil.example")


def test_without_the_token_nothing_is_told(client: Client) -> None:
    served = client(Guard(token="hush", admin_token="louder"))
    body = served.get("/api/project").json()
    assert body == {"needs_token": True, "title": "", "annotator": None, "questionnaire": None}
    for response in (
        served.get("/api/next"),
        served.post("/api/join", json={"annotator": "anna"}),
        served.post("/api/token", json={"token": "wrong"}),
        served.get("/?token=wrong"),
        served.get("/api/project", headers={"Authorization": "Bearer wrong"}),
        served.get("/api/admin"),
    ):
        assert response.status_code == 401 or response.json()["needs_token"] is True


@pytest.mark.parametrize("way", ["body", "address", "bearer", "header"])
def test_the_token_opens_the_server(client: Client, way: str) -> None:
    served = client(Guard(token="hush", admin_token="louder"))
    headers = {"bearer": {"Authorization": "Bearer hush"}, "header": {"X-Acidtest-Token": "hush"}}.get(way, {})
    if way == "body":
        assert served.post("/api/token", json={"token": "hush"}).json() == {"needs_token": False}
    elif way == "address":
        response = served.get("/?token=hush", follow_redirects=False)
        assert (response.status_code, response.headers["location"]) == (303, "/")
        assert "httponly" in response.headers["set-cookie"].lower()
    body = served.get("/api/project", headers=headers).json()
    assert body["needs_token"] is False
    assert served.get("/api/admin", headers=headers).status_code == 401


def test_who_watches_needs_another_token(client: Client) -> None:
    served = client(Guard(token="hush", admin_token="louder"))
    body = served.get("/api/admin", headers={"Authorization": "Bearer louder"}).json()
    assert (body["items"], body["wanted"], body["annotators"]) == (3, 6, [])


def test_a_link_lets_somebody_in_again(client: Client, project: Project) -> None:
    anna = join_client(client(), "Anna")
    post_answers(anna)
    elsewhere = client(Guard(token="hush"))
    word = encode_invitation(project.readmit("anna"))
    assert elsewhere.get(f"/join/{word}", follow_redirects=False).status_code == 303
    assert elsewhere.get("/api/progress").json() == anna.get("/api/progress").json()
    assert client().get(f"/join/{word[:-4]}", follow_redirects=False).status_code == 403


def test_two_windows_on_one_item_lose_nothing(client: Client, project: Project) -> None:
    anna = join_client(client())
    assignment = anna.get("/api/next").json()["assignment"]
    said = {"assignment": assignment, "answers": YES, "seconds": 1.0}
    status = list[int]()

    def post(number: int) -> None:
        body = said | {"key": f"window-{number}", "answers": YES | {"same_event": "no" if number % 2 else "yes"}}
        status.append(anna.post("/api/answers", json=body).status_code)

    threads = [threading.Thread(target=post, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert status == [200] * 6
    assert len(project_answers(project)) == 1
    everything = project_answers(project, everything=True)
    assert sorted(row.key for row in everything) == [f"window-{number}" for number in range(6)]
    assert project_answers(project)[0].key == everything[-1].key


def test_a_store_that_fails_is_told_so_that_the_page_sends_again(client: Client, project: Project) -> None:
    anna = join_client(client())
    assignment = anna.get("/api/next").json()["assignment"]
    project.store.close()
    broken = Path(str(project.store.url).removeprefix("sqlite:///"))
    for path in broken.parent.glob("answers.db*"):
        path.rename(path.with_name(f"moved-{path.name}"))
    broken.write_text("rubbish where a database was, and long enough", encoding="utf-8")
    response = post_answers_to(anna, assignment)
    assert response.status_code == 503
    assert str(broken) not in response.text


def test_the_page_is_there_and_nothing_else_of_the_disk(client: Client) -> None:
    anybody = client()
    assert anybody.get("/").headers["content-type"].startswith("text/html")
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/openapi.json", "/docs"):
        assert anybody.get(path).status_code == 404
        assert anybody.get(path).json()["error"]
