"""What text that addresses the model looks like, as data.

Every pattern is matched against folded text (lower case, no invisible characters,
full-width forms and look-alike letters replaced), so none needs to think of
disguises. They are narrow on purpose: a memory is full of instructions that people
gave to people ("my manager told me to ignore the previous estimate"), and a
pattern that removes those removes evidence.
"""

from __future__ import annotations

from typing import Final

import regex

# Between the words of a phrase: space, line break, emphasis, quotation marks.
_GAP: Final = r"(?:[\s*_~\"'\-]+)"


def _compile(*patterns: str) -> tuple[regex.Pattern[str], ...]:
    return tuple(regex.compile(pattern.replace(" ", _GAP), regex.MULTILINE) for pattern in patterns)


MARKERS: Final = _compile(
    # DSPy's field headers: its chat adapter believes the first one it sees.
    r"\[\[\s*\#\#",
    # ChatML and relatives: <|im_start|>, <|eot_id|>, <|begin_of_text|>.
    r"<\|[^<>|\n]{1,40}\|>",
    # Llama 2 and Mistral turns, sentence marks, Gemma turns.
    r"\[/?inst\]",
    r"<</?sys>>",
    r"</?s>",
    r"</?(?:start_of_turn|end_of_turn|bos|eos)>",
    # Alpaca-style headings.
    r"^\s*\#{2,}\s*(?:instruction|response|system|assistant)s?\s*:",
)
"""Strings that a chat template or DSPy reads as structure, wherever they stand."""

FORGERIES: Final = _compile(
    # A reply of one of this program's roles, written into a memory or a draft. The
    # keys are quoted: "the doctor's verdict: unknown" is a sentence.
    r"[\"'](?:verdict|premises|old_quote|new_quote|causal_path|failed_open)[\"']\s*:[^{}\n]*",
)
"""Output of a role that no role wrote."""

INSTRUCTIONS: Final = _compile(
    # A field header together with the line below it, which would be the field's value.
    r"\[\[\s*\#\#[^\n]{0,80}\n[^\n]*",
    # "Ignore all previous instructions". What people do with each other's instructions
    # survives ("I was told to ignore", "she always ignores"), except with "all" or
    # "your" before it, as attacks have it.
    r"\b(?:ignore|disregard|forget|override|bypass|skip)"
    r"(?:(?: everything| anything)? (?:all|any|your)(?: of)?"
    r"|(?<!\b(?:told|asked|advised|said|decided|learned|going|tend|tended|used|chose|prefer"
    r"|tried|try|like|wanted|free)(?: (?:me|us|him|her|them))? to \w+)"
    r"(?<!\b(?:i|he|she|they|people)(?: \w+)? \w+))"
    r" ?(?:(?:of|the|your|these|those|my) ){0,2}"
    r"(?:previous|prior|above|earlier|preceding|foregoing|initial|original|system)"
    r"(?: (?:system|assistant|safety|user))? (?:instructions?|prompts?|messages|directions"
    r"|directives|rules|guidelines|commands)\b",
    # "Ignore everything above"; "ignore your instructions".
    r"\b(?:ignore|disregard|forget) (?:everything|anything|all)(?: (?:that|written|said|stated))?"
    r"(?: (?:is|was|came))? (?:above|before this)\b",
    r"\b(?:ignore|disregard|forget|override) (?:all )?(?:of )?your (?:instructions|prompt|rules"
    r"|guidelines|programming|training)\b",
    # A new identity. Inside reported speech only with a word that names a machine.
    r"(?:^|[.!?:;]\s+)(?:(?:from now on|now|ok|okay|so|hello|attention),?\s+)?you are now\b",
    r"\byou are now (?:(?!than\b)\w+ ){0,4}(?:assistant|ai|llm|language model|model|bot|chatbot|dan"
    r"|gpt\w*|auditor|judge|validator|jailbroken|unrestricted|unfiltered)\b",
    # The system prompt as something to show or to replace, not as somebody's work.
    r"\b(?:reveal|print|show|repeat|output|ignore|override|leak|display|disclose|replace)"
    r"(?: \w+){0,3} system prompt\b",
    r"\byour system prompt\b",
    r"\b(?:new |updated |the )?system prompt(?:\s*:| (?:has (?:been )?changed|is now|override"
    r"|now (?:says|reads)))",
    # A role header at the start of a line, as transcripts have them.
    r"^[\s>\#*_\[(<]*(?:system|assistant)[\s*_\])>]*:",
    r"</?(?:system|assistant)>",
    # Orders about the output, said to whoever writes it. "Reply with valid points" and
    # "the endpoint must respond with JSON" are ordinary talk.
    r"(?:^|[.!?:;,]\s+|\b(?:you (?:must|should|will|shall|have to|need to)|please|then|and|now"
    r"|always|only|just|simply) )(?:respond|reply|output|answer|return|print)"
    r"(?=[^.!?\n]{0,40}\b(?:only|just|exactly|strictly|with|in|as|nothing)\b)"
    r"(?: (?:only|just|exactly|strictly|nothing but|with|in|as|the|this|following|a|one|word"
    r"|verdict|single|raw|valid))*[\s*_\"':]+(?:json\b|(?:valid|stale|unknown)\b"
    r"(?=[\W_]*(?:$|[.!?]|(?:only|for|and|to|on|json|as|no matter)\b)))",
    r"\b(?:mark|treat|label|classify|report|consider|set) (?:\w+ ){0,4}?(?:premises?|verdicts?"
    r"|entries|transitions?|everything)(?: \w+){0,3}? ?(?:as|to|is|=) ?(?:valid|stale|unknown)\b",
)
"""Sentences that tell a model what to do."""

SUSPECT: Final = (*MARKERS, *FORGERIES, *INSTRUCTIONS)
"""Everything that must not reach a role out of a memory."""

HINT: Final = regex.compile(
    r"\[\[|<\||\[/?inst|<</?sys|</|<s>|<(?:start|end|bos|eos|system|assistant)|\#\#"
    r"|[\"'`](?:verdict|premises|old_quote|new_quote|causal_path|failed_open)"
    r"|ignore|disregard|forget|override|bypass|skip|are[\W_]+now|system|assistant"
    r"|json|valid|stale|unknown",
    regex.IGNORECASE,
)
"""What every suspect passage contains in plain ASCII: almost all text has none of it, and the
patterns above need not be tried there."""
