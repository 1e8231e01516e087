"""What a run will cost, reckoned beforehand and held against the run itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from stateauditor.experiments.runs.estimate import Estimate, estimate, rates_of, total
from stateauditor.experiments.runs.spec import Arm, load_spec
from stateauditor.program.backends.config import LMConfig, Price
from stateauditor.program.roles.registry import cards

PRICED = """\
name: priced
lms:
  big: {model: openai/big, api_base: "http://127.0.0.1:9/v1", max_tokens: 1000,
        price: {input_per_million: 2.0, output_per_million: 10.0}}
"""


@pytest.fixture
def priced(tmp_path: Path) -> Path:
    path = tmp_path / "priced.yaml"
    path.write_text(PRICED, "utf-8")
    return path


def reckon(config: str, backend: Path | str, *settings: str, limit: int = 1) -> Estimate:
    overrides = ("data.set=stale_mini", f"data.limit={limit}", f"backend={backend}", "judges=[]")
    return estimate(load_spec(config, (*overrides, *settings)))


@pytest.mark.parametrize(
    ("arm", "roles"),
    [
        (Arm.GENERATOR_ONLY, 1),
        (Arm.LEAN, 3),
        (Arm.DRAFT_ANCHORED, 5),
        (Arm.STATE_ANCHORED, 4),
        (Arm.PREDECESSOR, 7),
        (Arm.STRICT_VTA, 8),
        (Arm.CONTROL, 8),
    ],
)
def test_every_role_of_an_arm_is_counted_once_a_probe(priced: Path, arm: Arm, roles: int) -> None:
    found = reckon(arm.value, priced)
    assert found.failed == 0
    assert [line.calls for line in found.lines] == [3] * roles


def test_joint_scope_proposes_once_a_scenario(priced: Path) -> None:
    calls = {line.role: line.calls for line in reckon("joint_vta", priced).lines}
    assert calls["transition_proposal"] == 1
    assert calls["response_adaptation"] == 3


def test_second_looks_are_counted_where_the_config_asks_for_them(priced: Path) -> None:
    found = reckon("strict_vta", priced, "skeptic=true", "semantic_gate=true")
    roles = [line.role for line in found.lines]
    assert {"skeptic", "semantic_gate"} <= {*roles}
    assert roles == [card.name for card in cards() if card.name in roles]


def test_an_observing_run_rewrites_nothing(priced: Path) -> None:
    roles = [line.role for line in reckon("lean", priced, "policy=observe").lines]
    assert "response_adaptation" not in roles


def test_drafts_that_are_there_already_are_not_generated(priced: Path) -> None:
    roles = [line.role for line in reckon("lean", priced, "drafts=stale_drafts").lines]
    assert "response_generation" not in roles


def test_judges_are_counted_once_a_scenario_under_their_own_price(priced: Path) -> None:
    overrides = ("data.set=stale_mini", "data.limit=2", f"backend={priced}", "judges=[openai]")
    found = estimate(load_spec("lean", overrides))
    judging = found.lines[-1]
    assert (judging.role, judging.backend, judging.calls) == ("stale_judgment", "openai", 2)
    assert judging.cost is not None


def test_money_is_tokens_times_the_files_price(priced: Path) -> None:
    (line,) = reckon("generator_only", priced).lines
    assert line.cost == pytest.approx((line.input_tokens * 2 + line.output_tokens * 10) / 1e6)
    assert line.longest_output == 3 * 1000
    assert line.highest_cost == pytest.approx((line.input_tokens * 2 + 3000 * 10) / 1e6)
    assert line.input_tokens > 3 * 2000


def test_prices_come_from_the_file_else_from_the_bundled_list_else_are_unknown() -> None:
    own = Price(input_per_million=1, output_per_million=2)
    assert rates_of(LMConfig(model="openai/gpt-4o", price=own)) == (1, 2)
    listed = rates_of(LMConfig(model="openai/gpt-4o"))
    assert listed is not None
    assert listed[1] > listed[0] > 0
    assert rates_of(LMConfig(model="openai/nobody-knows-me")) is None
    assert rates_of(LMConfig(model="openai/gpt-4o", api_base="http://x/v1")) is None
    assert rates_of(LMConfig(model="offline/lexical-rules")) == (0, 0)


def test_an_unknown_price_or_limit_makes_the_sum_unknown(tmp_path: Path) -> None:
    path = tmp_path / "free.yaml"
    path.write_text("lms: {m: {model: openai/x, api_base: 'http://127.0.0.1:9/v1'}}", "utf-8")
    (line,) = reckon("generator_only", path).lines
    assert (line.cost, line.highest_cost, line.longest_output) == (None, None, None)
    assert total([1.0, None]) is None
    assert total([1.0, 2.0]) == 3.0


def test_offline_rules_cost_nothing_and_are_not_gone_through() -> None:
    assert reckon("lean", "offline").lines == []


def test_a_sample_is_scaled_up(priced: Path) -> None:
    overrides = ("data.set=stale_mini", "data.limit=6", f"backend={priced}", "judges=[]")
    found = estimate(load_spec("generator_only", overrides), sample=2)
    assert (found.scenarios, found.looked_at) == (6, 2)
    assert found.lines[0].calls == 18


def test_the_bundled_price_list_is_read_without_the_network(
    priced: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import urllib.request

    def refused(*args: object, **kwargs: object) -> None:
        raise AssertionError("a request left the machine")

    monkeypatch.setattr(urllib.request, "urlopen", refused)
    reckon("generator_only", "openai")
