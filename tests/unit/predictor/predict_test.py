"""predict_test.py <chime-info> stated|measured: chime-info --predict as its users see it. No figure that depends on the
machine is looked at."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

INFO, PART = sys.argv[1:]


def run(*options, code=0, **environment):
    result = subprocess.run([INFO, "--predict", *options], capture_output=True, text=True, timeout=380,
                            env={**os.environ, **environment})
    assert result.returncode == code, f"{options}: code {result.returncode}, not {code}\n{result.stdout}{result.stderr}"
    return result.stdout if code == 0 else result.stderr


def stated():
    text = run("--gpu", "H100", "--nic", "cx7", "--size-range", "8:1M")
    assert "STATED figures, not measured" in text and "direct" in text and "1 MiB" in text, text
    shown = json.loads(run("--gpu", "h200", "--size-range", "8:1M", "--json"))
    assert [path["name"] for path in shown["paths"]] == ["mapped", "direct", "proxy", "staged"], shown
    assert len(shown["rows"]) == 18 and shown["rows"][-1]["bytes"] == 1 << 20
    for path in ("mapped", "direct", "proxy", "staged"):
        times = [row[path]["us"] for row in shown["rows"]]
        assert times == sorted(times) and times[0] > 0, times
    chunked = json.loads(run("--gpu", "H200", "--staging-chunk", "1M", "--json"))
    assert chunked["rows"][-1]["staged"]["us"] < json.loads(run("--gpu", "H200", "--json"))["rows"][-1]["staged"]["us"]
    listed = run("--devices")
    assert "GH200" in listed and "cx8" in listed and "pcie6x16" in listed and "nvidia.com" in listed, listed


def mistakes():
    assert "'K80' is not a GPU that is known; these are: V100, A100" in run("--gpu", "K80", code=2)
    assert "'cx1' is not a NIC that is known; these are: cx5" in run("--nic", "cx1", code=2)
    assert "'isa' is not a link that is known; these are: pcie3x8" in run("--links", "nvlink4,isa", code=2)
    assert "'4M:8' is not a size" in run("--gpu", "H100", "--size-range", "4M:8", code=2)
    assert "leave --gpu" in run("--gpu", "H100", "--check", code=2)
    assert "not pipelined" in run("--staging-chunk", "4K", code=2)
    assert "cannot be written" in run("--gpu", "H100", "--plot", "/no/such/folder/a.png", code=1)
    alone = subprocess.run([INFO, "--measure", "8"], capture_output=True, text=True, timeout=100)
    assert alone.returncode == 2 and "2 PEs" in alone.stderr, alone


def picture():
    with tempfile.TemporaryDirectory() as folder:
        png = os.path.join(folder, "a.png")
        assert "gnuplot is not there" in run("--gpu", "H100", "--plot", png, code=1, PATH=folder)
        assert os.listdir(folder) == [], os.listdir(folder)
        gnuplot, seen = os.path.join(folder, "gnuplot"), []
        for code in (0, 3):
            with open(gnuplot, "w", encoding="utf-8") as file:
                file.write(f"""#!/bin/sh\necho picture {code} >"$(sed -n 's/^set output "\\(.*\\)"/\\1/p')"; exit {code}\n""")
            os.chmod(gnuplot, 0o700)
            run("--gpu", "H100", "--plot", png, code=1 if code else 0, PATH=f"{folder}:{os.environ['PATH']}")
            with open(png, encoding="utf-8") as file:
                seen.append(file.read())
        assert seen == ["picture 0\n"] * 2, seen
        assert sorted(os.listdir(folder)) == ["a.png", "gnuplot"], os.listdir(folder)
        os.remove(png)
        os.remove(gnuplot)
        if subprocess.run(["sh", "-c", "command -v gnuplot"], stdout=subprocess.DEVNULL).returncode == 0:
            run("--gpu", "H100", "--plot", png)
            with open(png, "rb") as file:
                assert file.read(8) == b"\x89PNG\r\n\x1a\n"


# A chime-run that measures nothing. Times are such as the model has them: 20 us, and a byte takes 1/5000 us.
MEASURES = f"""#!{sys.executable}
import os, sys
variables = os.environ
assert variables["CHIME_DEVICE"] == "cpu", "kernels are the CPU device's"
path = "p2p" if variables["CHIME_P2P"] == "auto" else "proxy" if variables["CHIME_NIC"] == "none" else "nic"
assert path != "nic" or (variables["CHIME_NIC"], variables["CHIME_FABRIC"]) == ("soft", "off"), "the user's NIC, and no proxy"
if path in variables["FAIL"]:
    sys.exit(3)
print("path", "none" if path == variables["MISSING"] else path)
for n in map(int, sys.argv[sys.argv.index("--measure") + 1].split(",")):
    us = (20 + n / 5000) * (float(variables["ODD"]) if n == 8192 else 1)
    print("put", n, us, us / 2, 2 * us, us)
for i in range(11):
    print("copy", 4096 << i, (4096 << i) / 50000)
"""


def from_samples():
    with tempfile.TemporaryDirectory() as folder:
        info, launcher = os.path.join(folder, "chime-info"), os.path.join(folder, "chime-run")
        shutil.copy(INFO, info)

        def check(code, fail="", missing="", odd=1):
            variables = {**os.environ, "CHIME_NIC": "soft", "FAIL": fail, "MISSING": missing, "ODD": str(odd)}
            variables.pop("CHIME_DEVICE", None)
            done = subprocess.run([info, "--predict", "--check", "--json", "--size-range", "256:64K"], capture_output=True, text=True,
                                  timeout=100, env=variables)
            assert done.returncode == code, f"code {done.returncode}, not {code}: {done.stdout}{done.stderr}"
            return json.loads(done.stdout) if done.stdout else done.stderr

        assert "there is no chime-run beside" in check(1)
        with open(launcher, "w", encoding="utf-8") as file:
            file.write(MEASURES)
        os.chmod(launcher, 0o700)
        shown = check(0)
        assert [path["name"] for path in shown["paths"]] == ["mapped", "direct", "proxy", "staged"], shown
        direct = {row["bytes"]: row for row in shown["check"] if row["path"] == "direct"}
        for size in (256, 8192, 32768, 65536):
            wanted = 20 + size / 5000
            assert abs(direct[size]["predicted_us"] - wanted) < 1e-6 and direct[size]["calibrated"] == (size == 256), direct[size]
        shown = check(1, odd=2)
        assert abs(shown["worst_error"] - 0.5) < 0.05, shown["worst_error"]
        shown = check(0, fail="nic", missing="proxy")
        assert [path["name"] for path in shown["paths"]] == ["mapped"], shown
        assert "no figures for path nic: the job that measures path nic ended with code 3" in shown["notes"], shown
        assert "no figures for path proxy: two PEs of this machine have no path proxy: puts take none" in shown["notes"], shown
        assert "the job that measures path proxy ended with code 3" in check(1, fail="p2p nic proxy")


def measured():
    shown = json.loads(run("--repeats", "1", "--json", CHIME_FABRIC="auto"))
    names = [path["name"] for path in shown["paths"]]
    assert names[0] == "mapped" and len(shown["rows"]) == 20, shown
    missing = [note for note in shown["notes"] if note.startswith("no figures for path")]
    found = sum(name in names for name in ("mapped", "direct", "proxy"))
    assert found + len(missing) == 3, (names, missing)
    assert ("proxy" in names) == ("staged" in names), names
    for row in shown["rows"]:
        for name in names:
            assert row[name]["us"] >= 0 and 0 <= row[name]["processor"] < 8, row


if PART == "stated":
    stated()
    mistakes()
    picture()
    from_samples()
else:
    measured()
