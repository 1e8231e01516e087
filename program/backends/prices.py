"""Prices of models: the backend file's, else those of the list that comes with DSPy."""

from __future__ import annotations

import os

from stateauditor.program.backends.config import Price


def use_bundled_prices() -> None:
    """Keep DSPy from fetching a price list from the internet at the first call.

    Costs must be the same tomorrow, and nobody asked for that request.
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")


def listed_price(model: str, api_base: str | None) -> Price | None:
    """The list's price of a provider's own model; None for other addresses.

    A served model may carry a famous name and another price.
    """
    if api_base is not None:
        return None
    from dspy.clients.model_metadata import model_info, rate

    provider, _, name = model.partition("/")
    info = model_info(provider, name)
    inputs, outputs = rate(info, "input_cost_per_token"), rate(info, "output_cost_per_token")
    if inputs is None or outputs is None:
        return None
    return Price(input_per_million=inputs * 1e6, output_per_million=outputs * 1e6)
