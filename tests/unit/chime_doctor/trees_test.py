"""trees_test.py <chime-doctor> <folder of trees> <libchime's soname>: each fault changes exactly the lines of the report that it says, and each line that can stand in
the healthy report is seen failing by some fault."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import trees

MOST_SECONDS = 20  # for one run, on a machine that does more
QUICK = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # thousands of small files: 1 s in memory, 15 s on a disk


def report_of(doctor, soname, lines):
    with tempfile.TemporaryDirectory(prefix="chime-doctor-", dir=QUICK) as folder:
        tree = trees.Tree(folder, soname=soname)
        for some in lines:
            tree.put(some)
        run = subprocess.run([doctor, "--root", folder, "--json"], capture_output=True, text=True, timeout=MOST_SECONDS, check=False)
        assert run.returncode in (0, 1), run.stderr
        report = json.loads(run.stdout)
        assert run.returncode == (report["wrong"] > 0), f"exit code {run.returncode} with {report['wrong']} wrong"
        for count, level in (("wrong", "wrong"), ("warnings", "warning"), ("ok", "ok")):
            found = sum(finding["level"] == level for finding in report["findings"])
            assert report[count] == found, f"{report[count]} {count} are counted, and {found} are there"
        return report["findings"]


def name_of(finding):
    return finding["what"] + (f" of {finding['where']}" if finding["where"] else "")


def is_seen(finding, expected):
    level, name, part = expected
    if level == "mend":
        return name_of(finding) == name and part in finding.get("mend", "")
    return finding["level"] == level and name_of(finding) == name and part in finding["seen"]


def problems_of(fault, findings):
    bad = [finding for finding in findings if finding["level"] != "ok"]
    for expected in fault.expected:
        if not any(is_seen(finding, expected) for finding in findings):
            yield f"does not find '{' '.join(expected[:2])}: ...{expected[2]}...'"
    for finding in bad:
        if not any(is_seen(finding, expected) for expected in fault.expected if expected[0] != "mend"):
            yield f"finds {finding['level']} {name_of(finding)}: {finding['seen']}"
        if not finding.get("mend"):
            yield f"does not say what mends {name_of(finding)}"


def main():
    doctor, folder, soname = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    healthy = (folder / "healthy").read_text().splitlines()
    findings = report_of(doctor, soname, [healthy])
    problems = [f"healthy: {finding}" for finding in findings if finding["level"] != "ok"]
    faults = [fault for name in sorted(folder.iterdir()) if name.name != "healthy" for fault in trees.faults_in(name)]
    seen_failing = set()
    for fault in faults:
        if not fault.source:
            problems.append(f"{fault.name}: has no source")
        problems += [f"{fault.name}: {text}" for text in problems_of(fault, report_of(doctor, soname, [healthy, fault.lines]))]
        seen_failing |= {name.split(" of ")[0] for level, name, _ in fault.expected if level not in ("ok", "mend")}
    never = {finding["what"] for finding in findings} - seen_failing - {"other hosts"}
    problems += [f"no fault makes this line fail: {what}" for what in sorted(never)]
    print("\n".join(problems))
    print(f"{len(faults)} faults, {len(findings)} lines in the healthy report")
    return 1 if problems or len(faults) < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
