"""The web app for annotators: a page, and the JSON that it asks for.

| route | gives |
|---|---|
| ``GET /``, ``GET /static/…`` | the page |
| ``GET /api/project`` | what is asked; ``needs_token`` true and nothing else where a token is missing |
| ``POST /api/token`` ``{token}`` | a cookie for a token that the page found behind ``#`` in its address |
| ``POST /api/join`` ``{annotator, proof}`` | a name for whoever comes, with a cookie that proves it |
| ``GET /api/next`` | what to judge now, or ``{finished, reason}`` |
| ``POST /api/answers`` ``{assignment, answers, seconds, key}`` | progress, and what comes next |
| ``POST /api/undo`` | the last answer, open again |
| ``GET /api/progress``, ``GET /api/admin`` | how far one, or everybody, has come |

Errors are ``{"error": …}``, with ``"question"`` where one is answered wrongly.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import logging
from collections.abc import Callable
from importlib import resources
from math import ceil
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from acidtest.annotate.conditions import written_conditions
from acidtest.annotate.guards import Guard, GuardedApp, given_token, is_encrypted
from acidtest.annotate.guesses import Guesses, client_address
from acidtest.annotate.questionnaires import Questionnaire
from acidtest.annotate.store import StoreError
from acidtest.annotate.work import Joined, RefusedError, Work, folded_name

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
    proof: str = Field(default="", pattern="^([A-Za-z0-9_-]{20,100})?$")
    """A long random word of the browser's own: sent again with the same name, it takes that name again."""


class Said(_Body):
    """What somebody answered."""

    assignment: int
    answers: dict[str, Any]
    seconds: float | None = Field(default=None, ge=0, le=1e9, allow_inf_nan=False)
    key: str = Field(min_length=8, max_length=100, pattern="^[A-Za-z0-9_-]+$")


def cookie_names(work: Work) -> tuple[str, str]:
    """What the cookies with an annotator's name and with the token are called.

    Browsers send a host's cookies to all of its ports, so that each project needs some of its own.
    """
    mark = hashlib.sha256(work.id.encode()).hexdigest()[:12]
    return f"acidtest-annotator-{mark}", f"acidtest-token-{mark}"


def annotation_app(work: Work, guard: Guard) -> GuardedApp:
    """The web app of a project."""
    app = FastAPI(title="acidtest annotate", docs_url=None, redoc_url=None, openapi_url=None)
    _tell_errors(app)
    door = _Door(work, guard)
    _page_routes(app, work, guard, door)
    _annotator_routes(app, work, door)
    return GuardedApp(app, guard)


def questions(asked: Questionnaire, written: dict[str, Any]) -> list[dict[str, Any]]:
    """The questions as the page draws them; conditions as they are written."""
    conditions = written_conditions(written)
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


class LockedError(RefusedError):
    """Too many wrong tokens came from an address; ``seconds`` says how long it has to wait."""

    def __init__(self, seconds: float) -> None:
        self.seconds = ceil(seconds)
        told = "1 second" if self.seconds == 1 else f"{self.seconds} seconds"
        super().__init__(429, f"too many wrong tokens came from your address; try again in {told}")


class _Door:
    """Who a request comes from, by its cookies, and whether it may come in."""

    def __init__(self, work: Work, guard: Guard) -> None:
        self._work, self._guard, self._guesses = work, guard, Guesses()
        self._name_cookie, self._token_cookie = cookie_names(work)

    def token(self, request: Request) -> str | None:
        return given_token(request, self._token_cookie)

    def is_open(self, request: Request) -> bool:
        return self._accepts(request, self.token(request), self._guard.admits)

    def is_admin(self, request: Request) -> bool:
        return self._accepts(request, self.token(request), self._guard.admits_admin)

    def _accepts(self, request: Request, token: str | None, admits: Callable[[str | None], bool]) -> bool:
        """Whether a token is right; an address that sent too many wrong ones has to wait.

        A right token is taken from a locked address too where it cannot have been guessed: when tokens are long, or
        when the browser proves with a secret of its own that somebody got in with it before.
        """
        right = admits(token)
        if token is None or admits(None):
            return right
        address = client_address(request, proxied=bool(self._guard.allowed))
        locked = self._guesses.seconds_locked(address)
        if right and (not locked or self._guard.is_unguessable or self.known(request)):
            return True
        if locked:
            raise LockedError(locked)
        if not self._guard.admits(token):
            self._guesses.add(address, token)
        return right

    def admitted(self, request: Request) -> None:
        if not self.is_open(request):
            raise RefusedError(401, "this server needs a token; open the link that was given to you")

    def known(self, request: Request) -> str | None:
        joined = _invitation(request.cookies.get(self._name_cookie, ""))
        return self._work.annotator(joined.name, joined.secret) if joined else None

    def annotator(self, request: Request) -> str:
        self.admitted(request)
        name = self.known(request)
        if name is None:
            raise RefusedError(403, "join first: the server does not know who you are")
        return name

    def with_token(self, response: Response, request: Request, token: str) -> Response:
        if not self._accepts(request, token, self._guard.admits):
            raise RefusedError(401, "this token is not good; open the link that was given to you")
        _set_cookie(response, request, self._token_cookie, token)
        return response

    def with_name(self, response: Response, request: Request, word: str) -> Response:
        _set_cookie(response, request, self._name_cookie, word)
        return response


def _page_routes(app: FastAPI, work: Work, guard: Guard, door: _Door) -> None:
    folder = str(resources.files("acidtest.annotate").joinpath("page"))
    app.mount("/static", StaticFiles(directory=folder))

    @app.get("/")
    def page(request: Request, token: str | None = None) -> Response:
        if token is not None:
            return door.with_token(RedirectResponse("/", 303), request, token)
        return FileResponse(f"{folder}/index.html")

    @app.get("/join/{invitation}")
    def invited(request: Request, invitation: str) -> Response:
        joined = _invitation(invitation)
        if joined is None or work.annotator(joined.name, joined.secret) is None:
            raise RefusedError(403, "this link is not good; ask for a new one")
        response = door.with_name(RedirectResponse("/", 303), request, invitation)
        return response if door.is_open(request) else door.with_token(response, request, guard.token)

    @app.post("/api/token")
    def take_token(request: Request, body: Token) -> Response:
        return door.with_token(JSONResponse({"needs_token": False}), request, body.token)


def _annotator_routes(app: FastAPI, work: Work, door: _Door) -> None:
    asked = work.questionnaire

    @app.get("/api/project")
    def project(request: Request) -> dict[str, Any]:
        if not door.is_open(request):
            return {"needs_token": True, "title": "", "annotator": None, "questionnaire": None}
        return {
            "id": work.id,
            "title": asked.title,
            "instructions": asked.instructions,
            "shows": list(asked.shows),
            "questionnaire": {"name": asked.name, "questions": questions(asked, work.written)},
            "needs_token": False,
            "annotator": door.known(request),
        }

    @app.post("/api/join", dependencies=[Depends(door.admitted)])
    def join(request: Request, body: Join) -> Response:
        already = door.known(request)
        if already is not None and folded_name(already) == folded_name(body.annotator):
            return JSONResponse({"annotator": already, "progress": work.progress(already)})
        joined = work.join(body.annotator, proof=body.proof)
        response = JSONResponse({"annotator": joined.name, "progress": work.progress(joined.name)})
        return door.with_name(response, request, invitation(joined))

    @app.get("/api/next")
    def following(name: str = Depends(door.annotator)) -> dict[str, Any]:
        return work.next(name)

    @app.post("/api/answers")
    def answers(body: Said, name: str = Depends(door.annotator)) -> dict[str, Any]:
        return work.answer(name, body.assignment, body.answers, key=body.key, seconds=body.seconds)

    @app.post("/api/undo")
    def undo(name: str = Depends(door.annotator)) -> dict[str, Any]:
        return work.undo(name)

    @app.get("/api/progress")
    def progress(name: str = Depends(door.annotator)) -> dict[str, Any]:
        return {"annotator": name, "progress": work.progress(name)}

    @app.get("/api/admin")
    def admin(request: Request) -> dict[str, Any]:
        if not door.is_admin(request):
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


def _set_cookie(response: Response, request: Request, name: str, value: str) -> None:
    secure = is_encrypted(request)
    response.set_cookie(name, value, max_age=YEAR, httponly=True, samesite="strict", secure=secure)


def _error(problem: str, status: int, **more: str) -> Response:
    # What a request holds may be repeated in the error, and half a character could not be sent.
    told = {"error": problem, **more}
    return JSONResponse({name: text.encode("utf-8", "replace").decode() for name, text in told.items()}, status)


def _tell_errors(app: FastAPI) -> None:
    @app.exception_handler(RefusedError)
    def refused(_: Request, error: RefusedError) -> Response:
        return _error(str(error), error.status, **({"question": error.question} if error.question else {}))

    @app.exception_handler(LockedError)
    def locked(_: Request, error: LockedError) -> Response:
        response = _error(str(error), error.status)
        response.headers["retry-after"] = str(error.seconds)
        return response

    @app.exception_handler(RequestValidationError)
    def malformed(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        return _error(f"{where or 'the request'}: {first['msg']}", 422)

    @app.exception_handler(HTTPException)
    def other(_: Request, error: HTTPException) -> Response:
        return _error(str(error.detail), error.status_code)

    @app.exception_handler(StoreError)
    def unkept(_: Request, error: StoreError) -> Response:
        log.error("%s", error)
        return _error("the answer could not be kept just now; it will be sent again", 503)

    @app.exception_handler(Exception)
    def unforeseen(_: Request, error: Exception) -> Response:
        log.error("an annotator's request failed", exc_info=error)
        return _error("something went wrong on the server; nothing you said is lost", 500)
