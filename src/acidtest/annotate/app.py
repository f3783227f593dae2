"""The web app for annotators: a page, and the JSON that it asks for.

| route | gives |
|---|---|
| ``GET /``, ``GET /static/…`` | the page |
| ``GET /api/project`` | what is asked; ``needs_token`` true and nothing else where a token is missing |
| ``POST /api/token`` ``{token}`` | a cookie for a token that the page found behind ``#`` in its address |
| ``POST /api/join`` ``{annotator}`` | a name for whoever comes, with a cookie that proves it |
| ``GET /api/next`` | what to judge now, or ``{finished, reason}`` |
| ``POST /api/answers`` ``{assignment, answers, seconds, key}`` | progress, and what comes next |
| ``POST /api/undo`` | the last answer, open again |
| ``GET /api/progress``, ``GET /api/admin`` | how far one, or everybody, has come |

Errors are ``{"error": …}``, with ``"question"`` where one is answered wrongly.
"""

from __future__ import annotations

import base64
import binascii
import logging
from importlib import resources
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from acidtest.annotate.guards import TOKEN_COOKIE, Guard, GuardedApp, given_token
from acidtest.annotate.questionnaires import Questionnaire
from acidtest.annotate.store import StoreError
from acidtest.annotate.work import Joined, RefusedError, Work

NAME_COOKIE = "acidtest-annotator"
YEAR = 365 * 24 * 3600

log = logging.getLogger("acidtest.annotate")


class _Body(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class Token(_Body):
    """What opens the server."""

    token: str = Field(max_length=1000)


class Join(_Body):
    """Who comes."""

    annotator: str = Field(max_length=1000)


class Said(_Body):
    """What somebody answered."""

    assignment: int
    answers: dict[str, Any]
    seconds: float | None = Field(default=None, ge=0, le=1e9, allow_inf_nan=False)
    key: str = Field(min_length=8, max_length=100, pattern="^[A-Za-z0-9_-]+$")


def annotation_app(work: Work, guard: Guard) -> GuardedApp:
    """The web app of a project."""
    app = FastAPI(title="acidtest annotate", docs_url=None, redoc_url=None, openapi_url=None)
    _tell_errors(app)
    _page_routes(app, guard, work)
    _annotator_routes(app, work, guard)
    return GuardedApp(app, guard)


def questions(asked: Questionnaire, written: dict[str, Any]) -> list[dict[str, Any]]:
    """The questions as the page draws them; conditions as they are written."""
    conditions = {table["id"].strip(): table.get("when") for table in written["question"]}
    return [
        {
            "id": question.id,
            "text": question.text,
            "kind": question.kind,
            "required": question.required,
            "help": question.help,
            "options": [
                {"id": option.id, "text": option.text, "help": option.help, "exclusive": option.exclusive}
                for option in question.options
            ],
            "when": conditions[question.id],
        }
        for question in asked.questions
    ]


def _page_routes(app: FastAPI, guard: Guard, work: Work) -> None:
    folder = str(resources.files("acidtest.annotate").joinpath("page"))
    app.mount("/static", StaticFiles(directory=folder))

    @app.get("/")
    def page(request: Request, token: str | None = None) -> Response:
        if token is not None:
            return _with_token(RedirectResponse("/", 303), request, guard, token)
        return FileResponse(f"{folder}/index.html")

    @app.get("/join/{invitation}")
    def invited(request: Request, invitation: str) -> Response:
        joined = _invitation(invitation)
        if joined is None or work.annotator(joined.name, joined.secret) is None:
            raise RefusedError(403, "this link is not good; ask for a new one")
        response = RedirectResponse("/", 303)
        _set_cookie(response, request, NAME_COOKIE, invitation)
        return response if guard.admits(given_token(request)) else _with_token(response, request, guard, guard.token)

    @app.post("/api/token")
    def take_token(request: Request, body: Token) -> Response:
        return _with_token(JSONResponse({"needs_token": False}), request, guard, body.token)


def _annotator_routes(app: FastAPI, work: Work, guard: Guard) -> None:
    asked = work.questionnaire

    def admitted(request: Request) -> None:
        if not guard.admits(given_token(request)):
            raise RefusedError(401, "this server needs a token; open the link that was given to you")

    def known(request: Request) -> str | None:
        joined = _invitation(request.cookies.get(NAME_COOKIE, ""))
        return work.annotator(joined.name, joined.secret) if joined else None

    def annotator(request: Request) -> str:
        admitted(request)
        name = known(request)
        if name is None:
            raise RefusedError(403, "join first: the server does not know who you are")
        return name

    @app.get("/api/project")
    def project(request: Request) -> dict[str, Any]:
        if not guard.admits(given_token(request)):
            return {"needs_token": True, "title": "", "annotator": None, "questionnaire": None}
        return {
            "id": work.id,
            "title": asked.title,
            "instructions": asked.instructions,
            "guidelines": work.written.get("guidelines"),
            "shows": list(asked.shows),
            "questionnaire": {"name": asked.name, "questions": questions(asked, work.written)},
            "needs_token": False,
            "annotator": known(request),
        }

    @app.post("/api/join", dependencies=[Depends(admitted)])
    def join(request: Request, body: Join) -> Response:
        already = known(request)
        if already is not None and already.casefold() == " ".join(body.annotator.split()).casefold():
            return JSONResponse({"annotator": already, "progress": work.progress(already)})
        joined = work.join(body.annotator)
        response = JSONResponse({"annotator": joined.name, "progress": work.progress(joined.name)})
        _set_cookie(response, request, NAME_COOKIE, invitation(joined))
        return response

    @app.get("/api/next")
    def following(name: str = Depends(annotator)) -> dict[str, Any]:
        return work.next(name)

    @app.post("/api/answers")
    def answers(body: Said, name: str = Depends(annotator)) -> dict[str, Any]:
        return work.answer(name, body.assignment, body.answers, key=body.key, seconds=body.seconds)

    @app.post("/api/undo")
    def undo(name: str = Depends(annotator)) -> dict[str, Any]:
        return work.undo(name)

    @app.get("/api/progress")
    def progress(name: str = Depends(annotator)) -> dict[str, Any]:
        return {"annotator": name, "progress": work.progress(name)}

    @app.get("/api/admin")
    def admin(request: Request) -> dict[str, Any]:
        if not guard.admits_admin(given_token(request)):
            raise RefusedError(401, "this needs the token of whoever set the project up")
        return work.overview()


def invitation(joined: Joined) -> str:
    """A name and its secret as one word: the cookie, and the end of a link that lets somebody in again."""
    return base64.urlsafe_b64encode(f"{joined.secret} {joined.name}".encode()).decode().rstrip("=")


def _invitation(word: str) -> Joined | None:
    try:
        secret, _, name = base64.urlsafe_b64decode(word + "=" * (-len(word) % 4)).decode().partition(" ")
    except (binascii.Error, UnicodeError, ValueError):
        return None
    return Joined(name, secret) if secret and name else None


def _with_token(response: Response, request: Request, guard: Guard, token: str) -> Response:
    if not guard.admits(token):
        raise RefusedError(401, "this token is not good; open the link that was given to you")
    _set_cookie(response, request, TOKEN_COOKIE, token)
    return response


def _set_cookie(response: Response, request: Request, name: str, value: str) -> None:
    secure = request.url.scheme == "https"
    response.set_cookie(name, value, max_age=YEAR, httponly=True, samesite="strict", secure=secure)


def _tell_errors(app: FastAPI) -> None:
    @app.exception_handler(RefusedError)
    def refused(_: Request, error: RefusedError) -> Response:
        question = {"question": error.question} if error.question else {}
        return JSONResponse({"error": str(error), **question}, error.status)

    @app.exception_handler(RequestValidationError)
    def malformed(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        return JSONResponse({"error": f"{where or 'the request'}: {first['msg']}"}, 422)

    @app.exception_handler(HTTPException)
    def other(_: Request, error: HTTPException) -> Response:
        return JSONResponse({"error": str(error.detail)}, error.status_code)

    @app.exception_handler(StoreError)
    def unkept(_: Request, error: StoreError) -> Response:
        log.error("%s", error)
        return JSONResponse({"error": "the answer could not be kept just now; it will be sent again"}, 503)

    @app.exception_handler(Exception)
    def unforeseen(_: Request, error: Exception) -> Response:
        log.error("an annotator's request failed", exc_info=error)
        return JSONResponse({"error": "something went wrong on the server; nothing you said is lost"}, 500)
