"""What the offline rules are called where a model would be named."""

from typing import Final

OFFLINE_MODEL: Final = "offline/lexical-rules"
LABEL: Final = "offline lexical rules"
BACKEND_LABEL: Final = "offline (lexical rules)"
"""How a result names the backend when rules answered every role."""
