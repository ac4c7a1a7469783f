"""Turns the records that quickstart prints into settings of dnsmasq."""

import re
import sys

for line in sys.stdin:
    found = re.match(r"(?:ok|missing|wrong|optional) +(\w+) +(\S+)  (.+)$", line)
    if not found:
        continue
    kind, name, value = found.groups()
    if kind in ("A", "AAAA"):
        print(f"host-record={name},{value}")
    elif kind == "MX":
        priority, host = value.split(" ")
        print(f"mx-host={name},{host},{priority}")
    elif kind == "TXT":
        # A text of DNS has at most 255 bytes.
        parts = [value[i : i + 250] for i in range(0, len(value), 250)]
        print(f"txt-record={name}," + ",".join(f'"{p}"' for p in parts))
    elif kind == "PTR":
        print(f"ptr-record={'.'.join(reversed(name.split('.')))}.in-addr.arpa,{value}")
