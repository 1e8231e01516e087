"""Exact tests against hand computation, the paper and the literature."""

from __future__ import annotations

from math import comb
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.metrics import (
    clustered_sign_test,
    holm,
    mcnemar_exact,
    rate,
    rate_of,
    sign_test,
    wilson_interval,
)
from stateauditor.metrics import statistics as module
from stateauditor.signatures.errors import ConfigError, InputError

# (wins, losses, true p, what the paper prints). Section 6.1 unless noted.
PUBLISHED = [
    (84, 37, 2.3164e-5, "p < 1e-4"),
    (53, 6, 1.7539e-10, "no p given; IPA"),
    (31, 10, 1.4505e-3, "no p given; PR"),
    (24, 32, 0.34967, "SR stays flat"),
    (12, 21, 0.16276, "T2 regression pocket"),
    (33, 2, 3.6729e-8, "no p given; T2 IPA"),
    (83, 48, 2.8289e-3, "p = 2.8e-3 (section 6.4)"),
    (8, 32, 1.8217e-4, "no p given; T2-SR under repair-only (section 6.4)"),
    (92, 40, 6.9747e-6, "p = 7e-6"),
    (68, 17, 2.1751e-8, "no p given; IPA, Gemini judge (figure 3)"),
    (21, 9, 0.042774, "p = .043 (figure 3)"),
    (5, 0, 0.0625, "p = .06 (figure 3)"),
    (23, 5, 9.1223e-4, "p = .001"),
    (21, 8, 0.024120, "no p given; matched control over base"),
    (10, 5, 0.30176, "p = .30"),
    (331, 1, 7.6123e-98, "p < 1e-97"),
    (125, 32, 3.4595e-14, "p < 1e-13 (section 5)"),
    (18, 5, 0.010622, "significant (section 5)"),
    (21, 1, 1.0967e-5, "significant (section 5)"),
    # The paper prints p < 1e-9 for 52:7; the exact two-sided p is 1.36e-9, just above.
    # (One-sided it is 6.8e-10.) The conclusion is the same.
    (52, 7, 1.3590e-9, "p < 1e-9 does not reproduce"),
    (51, 12, 7.4597e-7, "agrees"),
    (53, 45, 0.47969, "not significant"),
    (5, 15, 0.041389, "no p given; LongMemEval slip (section 6.4)"),
    (145, 0, 4.4842e-44, "p < 1e-3 (section 6.2)"),
    (135, 9, 5.4565e-30, "p < 1e-3 (section 6.2)"),
]


@pytest.mark.parametrize(("wins", "losses", "p", "printed"), PUBLISHED)
def test_the_sign_test_reproduces_the_papers_counts(
    wins: int, losses: int, p: float, printed: str
) -> None:
    assert sign_test(wins, losses).p == pytest.approx(p, rel=1e-4), printed


@pytest.mark.parametrize(
    ("wins", "losses", "bound"),
    [(84, 37, 1e-4), (331, 1, 1e-97), (125, 32, 1e-13), (18, 5, 0.05), (21, 1, 0.05)],
)
def test_the_bounds_that_the_paper_prints_hold(wins: int, losses: int, bound: float) -> None:
    assert sign_test(wins, losses).p < bound


def test_one_printed_bound_is_missed_by_a_third() -> None:
    assert 1e-9 < sign_test(52, 7).p < 1.4e-9


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 50))
def test_the_sign_test_is_the_binomial_tail_doubled(wins: int, losses: int, ties: int) -> None:
    n, few = wins + losses, min(wins, losses)
    by_hand = min(1.0, 2 * sum(comb(n, k) for k in range(few + 1)) / 2**n)
    test = sign_test(wins, losses, ties)
    assert test.p == pytest.approx(by_hand, rel=1e-9)
    assert test.p == sign_test(losses, wins).p
    assert mcnemar_exact(wins, losses) == pytest.approx(by_hand, rel=1e-9)


def test_nothing_observed_is_no_evidence() -> None:
    assert sign_test(0, 0, ties=9).p == 1.0
    assert mcnemar_exact(0, 0) == 1.0


@pytest.mark.parametrize("call", [sign_test, mcnemar_exact])
def test_negative_counts_are_refused(call: object) -> None:
    assert callable(call)
    with pytest.raises(InputError, match="must be 0 or more, got -1"):
        call(-1, 3)


def test_clusters_count_once_by_their_net_direction() -> None:
    changes = [("a", 1), ("a", 1), ("a", -1), ("b", 1), ("b", -1), ("c", -1), ("d", 0)]
    test = clustered_sign_test(changes)
    assert (test.fixes, test.breaks) == (3, 3)
    assert (test.clusters.wins, test.clusters.losses, test.clusters.ties) == (1, 1, 2)


def test_the_papers_616_fixes_and_11_breaks_cluster_to_331_and_1() -> None:
    # One of the ways to spread 616 fixed and 11 broken cells over 331 + 1 scenarios:
    # 275 scenarios gain 2 and 56 gain 1, of which 10 gain a second and lose a third
    # cell; one scenario loses 1.
    changes = [(uid, 1) for uid in range(331)] + [(uid, 1) for uid in range(275)]
    changes += [(uid, step) for uid in range(275, 285) for step in (1, -1)] + [(999, -1)]
    test = clustered_sign_test(changes)
    assert (test.fixes, test.breaks) == (616, 11)
    assert (test.clusters.wins, test.clusters.losses) == (331, 1)
    assert test.clusters.p < 1e-97


def test_a_change_of_two_is_refused() -> None:
    with pytest.raises(InputError, match="cluster u: a change is -1, 0 or 1, got 2"):
        clustered_sign_test([("u", 2)])


# Newcombe (1998), Statistics in Medicine 17, 857-872, table I, method 3.
@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_intervals_are_newcombes(hits: int, n: int, low: float, high: float) -> None:
    assert wilson_interval(hits, n) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_a_rate_lies_inside_its_interval_and_the_interval_inside_0_and_1(
    pair: tuple[int, int],
) -> None:
    found = rate(*pair)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0


def test_a_rate_of_nothing_is_undefined() -> None:
    empty = rate_of([])
    assert (empty.n, empty.value, empty.low, empty.high) == (0, None, None, None)
    assert rate_of([True, False]).value == 0.5


def test_impossible_rates_are_refused() -> None:
    with pytest.raises(InputError, match="hits must be at most n, got 3 of 2"):
        rate(3, 2)
    with pytest.raises(InputError, match="a confidence level lies between 0 and 1, got 95"):
        rate(1, 2, level=95)


def test_holm_steps_down_and_keeps_the_order_given() -> None:
    # By hand: .005*4, .01*3, .03*2, then max(.06, .04*1).
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([]) == ()
    assert holm([0.9, 0.8]) == pytest.approx((1.0, 1.0))


@pytest.mark.parametrize(
    "p_values", [[0.2], [0.01, 0.01, 0.9], [0.7, 0.04, 0.0, 0.013, 1.0, 0.04, 0.008, 0.3]], ids=len
)
def test_holm_is_that_of_statsmodels(p_values: list[float]) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    theirs = multitest.multipletests(p_values, method="holm")[1]
    assert holm(p_values) == pytest.approx(tuple(map(float, theirs)), rel=1e-12)


@given(st.lists(st.floats(0, 1), max_size=8), st.randoms(use_true_random=False))
def test_holm_rejects_what_the_step_down_procedure_rejects(
    p_values: list[float], order: Random
) -> None:
    order.shuffle(p_values)
    m, rejected = len(p_values), set[int]()
    for rank, place in enumerate(sorted(range(m), key=p_values.__getitem__)):
        if p_values[place] * (m - rank) > 0.05:
            break
        rejected.add(place)
    adjusted = holm(p_values)
    assert {place for place in range(m) if adjusted[place] <= 0.05} == rejected
    assert all(1.0 >= after >= before for after, before in zip(adjusted, p_values, strict=True))


def test_holm_refuses_what_is_no_p_value() -> None:
    with pytest.raises(InputError, match=r"got 1\.5"):
        holm([0.5, 1.5])


def test_a_missing_extra_names_its_pip_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(module, "import_module", missing)
    with pytest.raises(ConfigError, match=r"need scipy; .*pip install 'stateauditor\[experiments"):
        sign_test(3, 1)
