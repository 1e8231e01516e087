"""Every exception that StateAuditor raises on purpose.

The tree::

    StateAuditorError
     +-- InputError (also ValueError)      memory, question or draft cannot be used
     |    +-- TimestampError               an entry's time is missing or unreadable
     +-- ConfigError (also ValueError)     a configuration or backend file is wrong
     |    +-- MissingKeyError              an API key's environment variable is not set
     +-- BackendError                      an LM call failed; a role then fails open
     |    +-- ModelOutputError             the reply could not be read as the typed output
     |    |    +-- TruncatedOutputError    the reply was cut at the token limit
     |    |    +-- EmptyOutputError        the reply held no text
     |    +-- ReplayMissError              a read-only cache holds no such response
     |    +-- ContextOverflowError         the prompt does not fit the model's context window
     |    +-- BackendDownError             the address keeps failing; nothing was sent
     +-- ReplyRejectedError                the adapter's reply is unusable (empty, absurd, leaking)

The command line turns each of them into one message and exit status 2.

``InputWarning`` is no exception: it is issued, through ``warnings``, where a memory can be
used and is known to be incomplete.
"""

from __future__ import annotations


class StateAuditorError(Exception):
    """Base of all errors that StateAuditor raises on purpose."""


class InputError(StateAuditorError, ValueError):
    """The memory, the question or the draft cannot be used as given."""


class TimestampError(InputError):
    """An entry's timestamp is missing or cannot be read."""


class InputWarning(UserWarning):
    """The memory can be used, but something of it is missing or cannot be compared."""


class ConfigError(StateAuditorError, ValueError):
    """A configuration or a backend file is wrong."""


class MissingKeyError(ConfigError):
    """The environment variable that should hold an API key is not set."""


class BackendError(StateAuditorError):
    """An LM call failed after its retries."""


class ModelOutputError(BackendError):
    """The LM's reply could not be read as the typed output of its Signature."""


class TruncatedOutputError(ModelOutputError):
    """The LM's reply was cut at the token limit and nothing whole could be kept."""


class EmptyOutputError(ModelOutputError):
    """The LM's reply held no text: an error, never "nothing is stale"."""


class ReplayMissError(BackendError):
    """A read-only cache was asked for a response that was never recorded."""


class ContextOverflowError(BackendError):
    """The prompt does not fit the model's context window, and could not be made to fit."""


class BackendDownError(BackendError):
    """The address has failed too often in a row; ``seconds`` are left until the next try."""

    def __init__(self, name: str, failures: int, seconds: float) -> None:
        super().__init__(
            f"backend {name} is down ({failures} failures); next try in {max(seconds, 0):.0f} s"
        )
        self.seconds = seconds


class ReplyRejectedError(StateAuditorError):
    """The adapter's reply is empty, absurd, or carries text that must not leave memory."""
