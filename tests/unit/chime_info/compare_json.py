"""compare_json.py <chime-info>: its text and its JSON name the same variables with the same defaults."""
import json
import re
import subprocess
import sys

text = subprocess.run([sys.argv[1], "--variables"], check=True, capture_output=True, text=True).stdout
table = json.loads(
    subprocess.run([sys.argv[1], "--json"], check=True, capture_output=True, text=True).stdout)["variables"]

in_text = re.findall(r"^  (CHIME_\w+)  \(.*default ([^,)]*)", text, re.MULTILINE)
in_json = [(row["name"], row["default"] or "unset") for row in table]
assert in_json and in_text == in_json, f"text {in_text}\njson {in_json}"
assert all(row["sentence"] for row in table)
