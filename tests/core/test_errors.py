"""Messages of errors: long values are cut in one place."""

import pytest

from acidtest.core.errors import MAX_QUOTED, AcidtestError, FileError


@pytest.mark.parametrize("value", ["x" * 50_000_000, "ab cd " * 8_000_000, "it's \" " * 7_000_000, "\\" * 50_000_000])
def test_a_long_value_is_cut_and_the_rest_of_the_message_is_kept(value: str) -> None:
    text = str(FileError("preds.csv", f"label {value!r} is not 'neutral'; write --label-map '{value}=NAME'", 3))
    assert text.startswith(f"preds.csv:3: label {value!r:.201}…")
    assert " is not 'neutral'; write --label-map '" in text
    assert len(text) < 2 * MAX_QUOTED + 200


def test_values_of_200_characters_and_messages_with_many_values_stay_whole() -> None:
    text = ", ".join(repr("x" * MAX_QUOTED) for _ in range(10)) + " don't match the user's '5' and \"it's\""
    assert str(AcidtestError(text)) == text
    assert str(AcidtestError(repr("x" * (MAX_QUOTED + 1)))) == f"'{'x' * MAX_QUOTED}…'"


@pytest.mark.parametrize("opening", [" 'a", ' "a', " 'a \"b"])
def test_quotation_marks_without_an_end_take_linear_time(opening: str) -> None:
    # In quadratic time, this would take hours.
    text = str(AcidtestError(f"column {opening * 1_000_000} is unknown; write --columns"))
    assert text.startswith(f"column {opening}{opening}")
    assert text.endswith(" is unknown; write --columns")


def test_a_long_value_without_quotes_is_cut() -> None:
    assert len(str(AcidtestError(f"{'x' * 1000} is unknown"))) == MAX_QUOTED + len("… is unknown")
    assert len(str(AcidtestError("many words " * 10_000))) <= 5_001
