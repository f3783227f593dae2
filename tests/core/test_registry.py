import pytest

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.registry import Registry
from acidtest.suites.catalogue import SUITES


def test_a_suite_is_found_through_the_index() -> None:
    assert "hans" in list(SUITES)
    assert SUITES["hans"].name == "hans"


def test_a_near_name_is_hinted_at() -> None:
    with pytest.raises(UnknownNameError, match=r"no suite called 'hanss'; did you mean 'hans'\?"):
        SUITES["hanss"]


def test_a_name_taken_twice_is_refused() -> None:
    registry: Registry[int] = Registry("thing", "acidtest.test")
    registry.add("one")(1)
    with pytest.raises(AcidtestError, match="two things are called 'one'"):
        registry.add("one")(2)


def test_a_broken_plug_in_is_reported_and_the_rest_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from importlib.metadata import EntryPoint

    broken = EntryPoint("theirs", "no_such_package_at_all:thing", "acidtest.test")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [broken])
    registry: Registry[int] = Registry("thing", "acidtest.test")
    assert list(registry) == []
    assert "theirs (no_such_package_at_all:thing) could not be loaded" in caplog.text
