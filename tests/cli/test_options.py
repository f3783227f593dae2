from __future__ import annotations

import logging

import pytest

from acidtest.cli.options import Stages


def test_stages_are_shown_once_a_command_takes_long(capsys: pytest.CaptureFixture[str]) -> None:
    now = iter([0.0, 1.0, 3.0])
    handler = Stages(lambda: next(now))
    for text in ("early", "late"):
        record = logging.makeLogRecord({"msg": text, "levelno": logging.INFO, "stage": True})
        handler.handle(record)
    handler.handle(logging.makeLogRecord({"msg": "no stage", "levelno": logging.INFO}))
    assert capsys.readouterr().err == "late …\n"
