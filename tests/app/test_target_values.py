"""The value that belongs at the top is known, rarer, or asked for."""

import pytest

from toprank.app.target_values import choose_positives


@pytest.mark.parametrize(
    ("counts", "values"),
    [
        ({"yes": 900, "no": 100}, ("yes",)),
        ({"ja": 500, "nein": 500}, ("ja",)),
        ({"true": 9, "false": 1}, ("true",)),
        ({"1": 9, "2": 1}, ("2",)),
        ({"-1": 1, "1": 9}, ("1",)),
        ({"10": 9, "9": 1}, ("10",)),
        ({"Yes": 1, "yes": 1, "NO": 3, "no": 3}, ("Yes", "yes")),
    ],
)
def test_pairs_whose_meaning_is_known_need_no_word(counts, values):
    found = choose_positives(counts, "y")
    assert (found.values, found.assumption) == (values, "")


@pytest.mark.parametrize(
    ("rare", "common"), [("fraud", "legit"), ("churned", "stayed"), ("zombie", "alive")]
)
def test_of_other_texts_the_rarer_is_taken_and_said_loudly(rare, common):
    found = choose_positives({common: 970, rare: 30}, "state")
    assert found.values == (rare,)
    assert found.assumption.startswith(f"ASSUMED: state = {rare} belongs at the top")
    assert f"--positive '{common}'" in found.assumption


def test_two_common_texts_are_asked_about():
    with pytest.raises(ValueError, match="--positive 'churned' or --positive 'stayed'"):
        choose_positives({"stayed": 550, "churned": 450}, "state")
    assert choose_positives({"a": 5, "b": 5}, "state", ("a",)).values == ("a",)


def test_values_that_differ_in_case_only_are_one():
    found = choose_positives({"Fraud": 2, "fraud": 3, "legit": 95}, "kind")
    assert found.values == ("Fraud", "fraud")
    assert "'Fraud', 'fraud' of the target 'kind' differ in case only" in found.note
    with pytest.raises(ValueError, match="only one value"):
        choose_positives({"Fraud": 2, "fraud": 3}, "kind")
