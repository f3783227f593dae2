from __future__ import annotations

import logging

import pytest

from acidtest.cli.options import Stages, set_up_logging, variable_name
from acidtest.core.logs import log


def test_stages_are_shown_once_a_command_takes_long(capsys: pytest.CaptureFixture[str]) -> None:
    now = iter([0.0, 1.0, 3.0])
    handler = Stages(lambda: next(now))
    for text in ("early", "late"):
        record = logging.makeLogRecord({"msg": text, "levelno": logging.INFO, "stage": True})
        handler.handle(record)
    handler.handle(logging.makeLogRecord({"msg": "no stage", "levelno": logging.INFO}))
    assert capsys.readouterr().err == "late …\n"


def test_the_same_warning_is_told_once_and_errors_every_time(capsys: pytest.CaptureFixture[str]) -> None:
    before = log.handlers, log.level
    try:
        set_up_logging(0, quiet=False)
        for file in ("a", "a", "b"):
            log.warning("%s: rows have no gold", file)
        log.error("wrong")
        log.error("wrong")
    finally:
        log.handlers, log.level = before
    told = capsys.readouterr().err.splitlines()
    assert told == ["WARNING: a: rows have no gold", "WARNING: b: rows have no gold", "ERROR: wrong", "ERROR: wrong"]


def test_an_option_has_one_variable() -> None:
    assert variable_name("batch-size") == variable_name("batch_size") == "ACIDTEST_BATCH_SIZE"
