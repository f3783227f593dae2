"""The web app for annotators and its HTTP server: a page, and the JSON routes it calls (docs/how-to/labels.md).

Errors are ``{"error": …}``, with ``"question"`` if one answer is at fault. The server limits connections and
the time of a request: uvicorn limits how long a connection may be idle between two requests, but not how long a request
may take to arrive, so half-sent ones would stay open until no file descriptor is left.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import resources
from math import ceil
from typing import Any

import h11
import uvicorn
from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from acidtest.annotate.answers import RequestError
from acidtest.annotate.guards import Guard, GuardedApp, WrongTokens, client_address, is_encrypted, request_token
from acidtest.annotate.projects import Credentials, Project, fold_name
from acidtest.annotate.store import StoreError

MAX_CONNECTIONS = 512
_YEAR = 365 * 24 * 3600

log = logging.getLogger("acidtest.annotate")


class _Body(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class TokenBody(_Body):
    token: str = Field(max_length=1000)


class JoinBody(_Body):
    annotator: str = Field(max_length=1000)
    proof: str = Field(default="", pattern="^([A-Za-z0-9_-]{20,100})?$")
    """A random string that the browser keeps; sent again with the same name, it gives access to that name."""


class AnswersBody(_Body):
    assignment: int
    answers: dict[str, Any]
    seconds: float | None = Field(default=None, ge=0, le=1e9, allow_inf_nan=False)
    key: str = Field(min_length=8, max_length=100, pattern="^[A-Za-z0-9_-]+$")


class LockedError(RequestError):
    """An address sent too many wrong tokens and must wait ``seconds``."""

    def __init__(self, seconds: float) -> None:
        self.seconds = ceil(seconds)
        wait = "1 second" if self.seconds == 1 else f"{self.seconds} seconds"
        super().__init__(429, f"too many wrong tokens came from your address; try again in {wait}")


def annotation_app(project: Project, guard: Guard) -> GuardedApp:
    app = FastAPI(title="acidtest annotate", docs_url=None, redoc_url=None, openapi_url=None)
    access = _Access(project, guard)
    for kind in (RequestError, RequestValidationError, HTTPException, StoreError, Exception):
        app.exception_handler(kind)(_error_response)
    _add_page_routes(app, guard, access)
    _add_annotator_routes(app, project, access)
    return GuardedApp(app, guard)


def cookie_names(project: Project) -> tuple[str, str]:
    """The names of the cookies with an annotator's name and with the token.

    Browsers send the cookies of a host to all of its ports, so each project has its own names.
    """
    digest = hashlib.sha256(project.id.encode()).hexdigest()[:12]
    return f"acidtest-annotator-{digest}", f"acidtest-token-{digest}"


def encode_invitation(credentials: Credentials) -> str:
    """An annotator's name and secret as one URL-safe string: the cookie's value, and the end of an invitation link."""
    return base64.urlsafe_b64encode(f"{credentials.secret} {credentials.name}".encode()).decode().rstrip("=")


class _Access:
    """Identifies the annotator of a request by its cookies, and checks its token."""

    def __init__(self, project: Project, guard: Guard) -> None:
        self._project, self._guard, self._wrong_tokens = project, guard, WrongTokens()
        self._name_cookie, self._token_cookie = cookie_names(project)

    def is_open(self, request: Request) -> bool:
        return self._accepts(request, request_token(request, self._token_cookie), self._guard.admits)

    def is_admin(self, request: Request) -> bool:
        return self._accepts(request, request_token(request, self._token_cookie), self._guard.admits_admin)

    def _accepts(self, request: Request, token: str | None, admits: Callable[[str | None], bool]) -> bool:
        """Whether a token is right; an address that sent too many wrong ones has to wait.

        A locked address is still accepted if its right token cannot have been guessed: tokens are long, or the browser
        also sends the secret of an annotator.
        """
        right = admits(token)
        if token is None or admits(None):
            return right
        address = client_address(request, proxied=bool(self._guard.allowed))
        locked = self._wrong_tokens.seconds_locked(address)
        if right and (not locked or self._guard.is_unguessable or self.find_annotator(request)):
            return True
        if locked:
            raise LockedError(locked)
        if not self._guard.admits(token):
            self._wrong_tokens.add(address, token)
        return right

    def require_token(self, request: Request) -> None:
        if not self.is_open(request):
            raise RequestError(401, "this server needs a token; open the link that was given to you")

    def find_invited(self, invitation: str) -> str | None:
        """The annotator whom an invitation names, if its secret is right."""
        try:
            word = base64.urlsafe_b64decode(invitation + "=" * (-len(invitation) % 4)).decode()
        except (binascii.Error, UnicodeError, ValueError):
            return None
        secret, _, name = word.partition(" ")
        return self._project.authenticate(name, secret) if secret and name else None

    def find_annotator(self, request: Request) -> str | None:
        return self.find_invited(request.cookies.get(self._name_cookie, ""))

    def require_annotator(self, request: Request) -> str:
        self.require_token(request)
        name = self.find_annotator(request)
        if name is None:
            raise RequestError(403, "join first: the server does not know who you are")
        return name

    def set_token(self, response: Response, request: Request, token: str) -> Response:
        if not self._accepts(request, token, self._guard.admits):
            raise RequestError(401, "this token is not valid; open the link that was given to you")
        return _set_cookie(response, request, self._token_cookie, token)

    def set_name(self, response: Response, request: Request, invitation: str) -> Response:
        return _set_cookie(response, request, self._name_cookie, invitation)


def _add_page_routes(app: FastAPI, guard: Guard, access: _Access) -> None:
    folder = str(resources.files("acidtest.annotate").joinpath("page"))
    app.mount("/static", StaticFiles(directory=folder))

    @app.get("/")
    def page(request: Request, token: str | None = None) -> Response:
        if token is not None:
            return access.set_token(RedirectResponse("/", 303), request, token)
        return FileResponse(f"{folder}/index.html")

    @app.get("/join/{invitation}")
    def accept_invitation(request: Request, invitation: str) -> Response:
        if access.find_invited(invitation) is None:
            raise RequestError(403, "this link is not valid; ask for a new one")
        response = access.set_name(RedirectResponse("/", 303), request, invitation)
        return response if access.is_open(request) else access.set_token(response, request, guard.token)

    @app.post("/api/token")
    def take_token(request: Request, body: TokenBody) -> Response:
        return access.set_token(JSONResponse({"needs_token": False}), request, body.token)


def _add_annotator_routes(app: FastAPI, project: Project, access: _Access) -> None:
    questionnaire = project.questionnaire

    @app.get("/api/project")
    def describe_project(request: Request) -> dict[str, Any]:
        if not access.is_open(request):
            return {"needs_token": True, "title": "", "annotator": None, "questionnaire": None}
        return {
            "id": project.id,
            "title": questionnaire.title,
            "instructions": questionnaire.instructions,
            "shows": list(questionnaire.shows),
            "questionnaire": {
                "name": questionnaire.name,
                "questions": [asdict(question) for question in questionnaire.questions],
            },
            "needs_token": False,
            "annotator": access.find_annotator(request),
        }

    @app.post("/api/join", dependencies=[Depends(access.require_token)])
    def join(request: Request, body: JoinBody) -> Response:
        name = access.find_annotator(request)
        if name is not None and fold_name(name) == fold_name(body.annotator):
            return JSONResponse({"annotator": name, "progress": project.progress(name)})
        credentials = project.join(body.annotator, proof=body.proof)
        response = JSONResponse({"annotator": credentials.name, "progress": project.progress(credentials.name)})
        return access.set_name(response, request, encode_invitation(credentials))

    @app.get("/api/next")
    def next_item(name: str = Depends(access.require_annotator)) -> dict[str, Any]:
        return project.next(name)

    @app.post("/api/answers")
    def answers(body: AnswersBody, name: str = Depends(access.require_annotator)) -> dict[str, Any]:
        return project.answer(name, body.assignment, body.answers, key=body.key, seconds=body.seconds)

    @app.post("/api/undo")
    def undo(name: str = Depends(access.require_annotator)) -> dict[str, Any]:
        return project.undo(name)

    @app.get("/api/progress")
    def progress(name: str = Depends(access.require_annotator)) -> dict[str, Any]:
        return {"annotator": name, "progress": project.progress(name)}

    @app.get("/api/admin")
    def admin(request: Request) -> dict[str, Any]:
        if not access.is_admin(request):
            raise RequestError(401, "this needs the token of whoever runs the project")
        return project.overview()


def _set_cookie(response: Response, request: Request, name: str, value: str) -> Response:
    secure = is_encrypted(request)
    response.set_cookie(name, value, max_age=_YEAR, httponly=True, samesite="strict", secure=secure)
    return response


def _error_response(_: Request, error: Exception) -> Response:
    content, headers = {"error": str(error)}, dict[str, str]()
    if isinstance(error, RequestError):
        status = error.status
        content |= {"question": error.question} if error.question else {}
        headers |= {"retry-after": str(error.seconds)} if isinstance(error, LockedError) else {}
    elif isinstance(error, RequestValidationError):
        status, first = 422, error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        content = {"error": f"{where or 'the request'}: {first['msg']}"}
    elif isinstance(error, HTTPException):
        status, content = error.status_code, {"error": str(error.detail)}
    elif isinstance(error, StoreError):
        log.error("%s", error)
        status, content = 503, {"error": "the answer could not be stored just now; it will be sent again"}
    else:
        log.error("an annotator's request failed", exc_info=error)
        status, content = 500, {"error": "something went wrong on the server; none of your answers is lost"}
    # An error may quote the request, which may contain lone surrogates that cannot be encoded.
    texts = {name: text.encode("utf-8", "replace").decode() for name, text in content.items()}
    return JSONResponse(texts, status, headers)


def available_connections() -> int:
    """How many connections the server keeps open: half as many as the process may open files, at most 512."""
    try:
        import resource
    except ImportError:  # Windows has no such limit for sockets.
        return MAX_CONNECTIONS
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MAX_CONNECTIONS if files == resource.RLIM_INFINITY else max(8, min(MAX_CONNECTIONS, files // 2))


@dataclass(frozen=True)
class ServerLimits:
    """Limits on the time of a request, on idle time, and on the number of connections."""

    request_seconds: float = 20.0
    """From the first byte, or from connecting, to the last byte of the body."""
    idle_seconds: int = 75
    """The longest pause between two requests."""
    connections: int = 0
    """0: ``available_connections()``."""


def annotation_server(
    app: ASGIApp, *, limits: ServerLimits | None = None, log_level: str = "warning"
) -> uvicorn.Server:
    """A server for the web app of a project; ``run(sockets=[…])`` serves until interrupted."""
    limits = limits or ServerLimits()
    seconds, connections = limits.request_seconds, limits.connections or available_connections()

    class Protocol(LimitedProtocol):
        request_seconds = seconds
        max_connections = connections

    config = uvicorn.Config(
        app,
        http=Protocol,
        ws="none",
        log_level=log_level,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=limits.idle_seconds,
        # asyncio accepts up to this many connections in one go, before any of them can be closed.
        backlog=max(1, connections // 2),
    )
    return uvicorn.Server(config)


class LimitedProtocol(H11Protocol):
    """A connection that is closed if its request arrives too slowly, or if it has waited longest of too many."""

    request_seconds: float
    max_connections: int
    _deadline: asyncio.TimerHandle | None = None
    _waits_since: float = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection; if there are too many, close the one that has waited longest for its client."""
        super().connection_made(transport)
        self._waits_since = self.loop.time()
        self._start_timer()
        if len(self.connections) > self.max_connections:
            waiting = [other for other in self.connections if isinstance(other, LimitedProtocol) and other.is_waiting]
            min(waiting, key=lambda other: other._waits_since).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read more of a request; the time limit runs from its first byte to its last."""
        super().data_received(data)
        if self.is_waiting:
            self._start_timer()
        else:
            self._stop_timer()

    def on_response_complete(self) -> None:
        """Wait for the next request; until its first byte the idle limit of uvicorn applies."""
        self._waits_since = self.loop.time()
        super().on_response_complete()

    @property
    def is_waiting(self) -> bool:
        """Whether the server waits for the client: there is no complete request to answer."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY) and not self.transport.is_closing()

    def _start_timer(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.request_seconds, self._time_out)

    def _stop_timer(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _time_out(self) -> None:
        self._deadline = None
        if self.is_waiting:
            self.transport.abort()
