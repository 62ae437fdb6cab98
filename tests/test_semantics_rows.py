"""Every row of the semantics has a test that bears its id, or says why not."""

import pytest

from docs.semantics_table import as_rst, find_tests, sections

ROWS = [row for _, rows in sections() for row in rows]
NAMED = {row.id if row.kind == "features" else f"{row.kind} {row.id}": row for row in ROWS}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.kind}-{row.id}")
def test_row_is_proved(row):
    proofs = bool(row.tests or row.see or row.elsewhere)
    assert proofs or row.open, f"no test is named test_{row.id}_..., and no reason is stated"
    assert not (proofs and row.open), f"{row.id} says that it is open, and is proved: take that out"
    for other in row.see:
        assert NAMED[other].tests, f"row {row.id} refers to {other}, which has no test"


def test_no_test_bears_an_unknown_id():
    prefixes = {(row.kind, row.id[0]) for row in ROWS}
    unknown = {key for key in find_tests() if (key[0], key[1][0]) in prefixes} - {row.key for row in ROWS}
    assert unknown == set()


def test_titles_are_short():
    assert [row.title for row in ROWS if len(row.title.split()) > 6] == []


def test_page_lists_every_row():
    page = as_rst()
    assert all(f"* - {row.id}\n" in page for row in ROWS)
