"""Retrieval measured alone, with no LM: the paper's ablation ladder (section 4.1).

For each budget: plain BM25 with one window a session, then the four steps switched
on in turn. A pair counts as found only if the readout holds both annotated
statements whole (strict window-level recall); the annotation is read for scoring
only, never by the retriever.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field
from rank_bm25 import BM25Okapi
from rich.table import Table

from stateauditor.data.scenario import BenchmarkItem
from stateauditor.experiments.runs.scenarios import open_source
from stateauditor.experiments.runs.spec import DataSpec
from stateauditor.metrics import Rate, RecallItem, RecallTable, pair_recall, rate, recall_table
from stateauditor.program.memory import read_memory
from stateauditor.program.retrieval.config import RetrievalConfig
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.program.retrieval.page import line_cost
from stateauditor.program.retrieval.tokens import words
from stateauditor.program.safety.screening import redact
from stateauditor.signatures.edge import validated
from stateauditor.signatures.models import Frozen, Readout, RenderedEntry

KIND = "retrieval"
STEPS = ("question_anchored", "change_scan", "session_companions", "antecedents")
PLAIN = "plain BM25"
Retriever = Callable[[str], Readout]


class RetrievalSpec(Frozen):
    """A retrieval run: which scenarios, at which budgets (tokens), under which settings."""

    kind: Literal["retrieval"] = "retrieval"
    name: str = Field(min_length=1, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    data: DataSpec
    budgets: tuple[int, ...] = Field(default=(2_000, 5_700), min_length=1)
    retrieval: RetrievalConfig = RetrievalConfig()


class Rung(Frozen):
    """One retriever at one budget.

    ``linked`` is the share of probes whose annotated pair was proposed as a pair, and
    ``precision`` the share of proposed pairs that are the annotated one (a history holds
    other real changes, so that it is a lower bound). ``milliseconds`` is the
    median for one question; it varies with the machine, everything else does not.
    """

    budget: int
    retriever: str
    recall: RecallTable
    linked: Rate
    precision: Rate
    milliseconds: float


class RetrievalReport(Frozen):
    """All rungs over one set of scenarios; ``windows`` is the mean of a history."""

    name: str
    data: str
    data_sha256: str
    scenarios: int
    windows: float
    rungs: tuple[Rung, ...]


@dataclass(frozen=True, slots=True)
class _Answer:
    """What one probe got, scored."""

    item: RecallItem
    linked: bool
    gold_pairs: int
    pairs: int
    seconds: float


def parse_retrieval_spec(data: Mapping[str, Any], *, source: str) -> RetrievalSpec:
    """Validate a parsed config; :class:`ConfigError` lists every problem with its path."""
    return validated(RetrievalSpec, data, source=source)


def measure_retrieval(
    spec: RetrievalSpec, watch: Callable[[int, int], None] = lambda done, total: None
) -> RetrievalReport:
    """Ask every probe of every scenario at every rung; ``watch`` gets (done, total) scenarios."""
    source = open_source(spec.data)
    uids = [uid for uid in source.uids if uid not in source.controls]
    ladder = [(budget, *rung) for budget in spec.budgets for rung in _rungs(spec.retrieval, budget)]
    answers: list[list[_Answer]] = [[] for _ in ladder]
    windows: list[int] = []
    for item in source:
        if item.uid in source.controls:
            continue
        index = MemoryIndex.build(read_memory(item.scenario.memory_items()), spec.retrieval)
        windows.append(index.windows_examined)
        plain = _PlainBM25(index)
        for (budget, _, config), found in zip(ladder, answers, strict=True):
            found += _asked(item, _retriever(index, plain, budget, config))
        watch(len(windows), len(uids))
    return RetrievalReport(
        name=spec.name,
        data=source.name,
        data_sha256=source.sha256,
        scenarios=len(windows),
        windows=statistics.fmean(windows) if windows else 0.0,
        rungs=tuple(
            _rung(budget, name, found)
            for (budget, name, _), found in zip(ladder, answers, strict=True)
        ),
    )


def retrieval_table(report: RetrievalReport) -> Table:
    """The ladder as it is printed."""
    table = Table(
        title=f"{report.data}: {report.scenarios} scenarios, "
        f"{report.windows:.0f} windows examined a history; strict pair recall, no LM"
    )
    for column in ("budget", "retriever", "pair [95% CI]", "old", "new", "SR", "PR", "IPA", "T1",
                   "T2", "tokens", "ms", "linked", "precision"):  # fmt: skip
        table.add_column(column, justify="left" if column == "retriever" else "right")
    for rung in report.rungs:
        recall = rung.recall
        parts = [row.pair for row in (*recall.dimensions, *recall.types)]
        tokens = recall.overall.mean_tokens
        table.add_row(
            str(rung.budget),
            rung.retriever,
            _with_interval(recall.overall.pair),
            *(_share(one) for one in (recall.overall.old, recall.overall.new, *parts)),
            "–" if tokens is None else f"{tokens:.0f}",
            f"{rung.milliseconds:.2f}",
            _share(rung.linked),
            _share(rung.precision),
        )
    return table


def write_retrieval(report: RetrievalReport, out: Path) -> Path:
    """Write ``retrieval.json`` into a run folder, and return its path."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / "retrieval.json"
    text = json.dumps(report.model_dump(mode="json"), ensure_ascii=False, indent=2, sort_keys=True)
    path.write_text(text + "\n", "utf-8")
    return path


# --- retrievers -----------------------------------------------------------------


def _rungs(config: RetrievalConfig, budget: int) -> list[tuple[str, RetrievalConfig | None]]:
    """Plain BM25, the steps alone switched on in turn, then the budget filled."""
    rungs: list[tuple[str, RetrievalConfig | None]] = [(PLAIN, None)]
    for count, numeral in enumerate(("i", "i-ii", "i-iii", "i-iv"), start=1):
        switches = {step: place < count for place, step in enumerate(STEPS)}
        alone = {**switches, "later_tellings": False, "fill": False, "budget_tokens": budget}
        changed = config.model_copy(update=alone)
        rungs.append((f"steps {numeral}", changed))
    rungs.append(("all, filled", config.model_copy(update={"budget_tokens": budget})))
    return rungs


def _retriever(
    index: MemoryIndex, plain: _PlainBM25, budget: int, config: RetrievalConfig | None
) -> Retriever:
    if config is None:
        return lambda question: plain.retrieve(question, budget)
    return lambda question: index.retrieve(question, config=config, redact=redact)


class _PlainBM25:
    """The baseline: each session's best window, best first, as long as the budget lasts."""

    def __init__(self, index: MemoryIndex) -> None:
        self.windows = index.each_window()
        texts = [[word.casefold() for word in words(w.text)] for w in self.windows]
        self.okapi = BM25Okapi(texts) if any(texts) else None

    def retrieve(self, question: str, budget: int) -> Readout:
        """The readout of the best windows, one a session."""
        if self.okapi is None:
            return Readout()
        scores = self.okapi.get_scores([word.casefold() for word in words(question)])
        entries: list[RenderedEntry] = []
        seen: set[str] = set()
        tokens = 0
        for place in sorted(range(len(self.windows)), key=lambda n: (-scores[n], n)):
            window = self.windows[place]
            cost = line_cost("E00", window.timestamp, window.text)
            session = window.session or window.entry_id
            if session in seen or tokens + cost > budget:
                continue
            seen.add(session)
            tokens += cost
            entries.append(
                RenderedEntry(
                    id=f"E{len(entries) + 1:02d}",
                    entry_id=window.entry_id,
                    timestamp=window.timestamp,
                    session=window.session,
                    text=window.text,
                )
            )
        return Readout(entries=tuple(entries), tokens=tokens)


# --- scoring ----------------------------------------------------------------------


def _asked(item: BenchmarkItem, retrieve: Retriever) -> Iterable[_Answer]:
    old, new = item.judge.m_old.reveal(), item.judge.m_new.reveal()
    for dimension, question in item.scenario.probes.items():
        started = time.perf_counter()
        readout = retrieve(question)
        seconds = time.perf_counter() - started
        text = {line.id: line.text for line in readout.entries}
        gold = sum(_is_gold(text[a], text[b], old, new) for a, b in readout.pairs)
        yield _Answer(
            item=RecallItem(
                uid=item.uid,
                type=item.type.value,
                dimension=dimension.value,
                recall=pair_recall(text.values(), old, new),
                tokens=readout.tokens,
            ),
            linked=gold > 0,
            gold_pairs=gold,
            pairs=len(readout.pairs),
            seconds=seconds,
        )


def _is_gold(earlier: str, later: str, old: str, new: str) -> bool:
    """Whether a proposed pair is the annotated one."""
    return pair_recall([earlier], old, new).found_old and pair_recall([later], old, new).found_new


def _rung(budget: int, name: str, answers: Sequence[_Answer]) -> Rung:
    return Rung(
        budget=budget,
        retriever=name,
        recall=recall_table(answer.item for answer in answers),
        linked=rate(sum(answer.linked for answer in answers), len(answers)),
        precision=rate(sum(a.gold_pairs for a in answers), sum(a.pairs for a in answers)),
        milliseconds=1e3 * statistics.median([a.seconds for a in answers]) if answers else 0.0,
    )


def _share(one: Rate) -> str:
    return "–" if one.value is None else f"{one.value:.3f}"


def _with_interval(one: Rate) -> str:
    if one.value is None or one.low is None or one.high is None:
        return "–"
    return f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]"
