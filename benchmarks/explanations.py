"""Why a peer is ahead, why an exponent is steep, where slack goes: told where it is so.

Keys are words that must occur in the names of a row: ours and the peer's, or the name alone.
"""

PEERS: dict[tuple[str, str], str] = {}
GROWTH: dict[tuple[str], str] = {}
SLACK: dict[tuple[str], str] = {}
YARDSTICK = ""
