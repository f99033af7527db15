"""The article map names, for every claim that is taught, tests and notebooks that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "notebooks" / "article.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TEXT.splitlines()
    if re.match(r"\| A\d+ \|", line)
]
TESTS = {
    name
    for path in (ROOT / "tests").rglob("test_article_*.py")
    for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), flags=re.M)
}


def test_every_claim_has_a_row():
    assert [claim for claim, *_ in ROWS] == [f"A{i}" for i in range(1, 22)]


def test_a_claim_that_is_taught_has_tests_and_a_verdict():
    for claim, _, notebooks, tests, verdict in ROWS:
        if "planned" in notebooks:
            assert not tests and not verdict
            continue
        named = re.findall(r"`(test_\w+)`", tests)
        assert named and set(named) <= TESTS, f"{claim}: {set(named) - TESTS or 'no test'}"
        assert all(name.startswith(f"test_{claim.lower()}_") for name in named)
        assert verdict.startswith(("holds", "corrected"))
        for number, link in re.findall(r"\[(\d\d)\]\((\S+)\)", notebooks):
            assert link.startswith(number) and (ROOT / "notebooks" / link).exists(), link


def test_the_story_tells_every_claim_in_order():
    told = [int(number) for number in re.findall(r"\(A(\d+)\)", TEXT.partition("<details>")[0])]
    assert told == list(range(1, 22))


def test_every_article_test_belongs_to_a_claim():
    claims = {f"test_{claim.lower()}_" for claim, *_ in ROWS}
    assert all(re.match(r"test_a\d+_", name).group() in claims for name in TESTS if name.startswith("test_a"))
