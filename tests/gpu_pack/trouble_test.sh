#!/bin/bash
# trouble_test.sh <source folder> <scratch folder>: how scripts/packed/gpu-check reports and survives each end of a run. The archive is made up: its
# programs are a few lines of shell.
set -u
source=$1 scratch=$2
rm -rf "$scratch" && mkdir -p "$scratch/archive/bin" || exit 1
archive=$scratch/archive
cp "$source/scripts/packed/gpu-check" "$archive/"
printf 'device none\ncommit none\narchitectures none\nglibc 2.0\n' >"$archive/about"

# program <name>: standard input becomes a program of the archive.
program() { { echo '#!/bin/bash'; cat; } >"$archive/bin/$1" && chmod +x "$archive/bin/$1"; }
# row <part> <seconds kept> <must|if-time> <name> <seconds> [tool [variables [command]]]
row() {
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5" "${6:--}" "${7:--}" "${8:-bin/$4}" >>"$archive/runs"
}
start() { rm -rf "$archive/runs" "$scratch/report" "$scratch/seen"; }
check() {
  "$archive/gpu-check" --report "$scratch/report" "$@" >"$scratch/printed" 2>&1
  status=$?
}
failed=0
fails() { echo "$*"; sed 's/^/  | /' "$scratch/printed"; failed=1; }
# expect <what> <pattern>: a printed line.
expect() { grep -qE -- "$2" "$scratch/printed" || fails "$1: no line matches '$2'"; }
expect_status() { [ "$status" = "$1" ] || fails "exit status $status instead of $1"; }

program good <<<'echo "a fact"; [ "${MODE-}" != wrong ]'
program bad <<<'echo "what went wrong: \"it\""; exit 3'
program hangs <<<"trap '' TERM; echo begun; (trap '' TERM; sleep 1234.5) & sleep 1234.5"
program killed <<<'kill -KILL $$'
program lacks <<<'echo "no such thing here"; exit 77'
program slow <<<"echo slow >>'$scratch/seen'; sleep 3"
program never <<<"echo never >>'$scratch/seen'"

# Each trouble is reported by its name, the programs after it run, and nothing is left.
start
row facts 5 must good 20
row tests 5 must bad 20
row tests 5 must hangs 2
row tests 5 must killed 20
row tests 5 must gone 20
row tests 5 must lacks 20
row tests 5 must with_mode 20 - MODE=wrong bin/good
row figures 5 must after 20 - MODE=right bin/good
row rest 0 if-time no_tool 20 a-tool-that-nobody-has - bin/good
began=$SECONDS
check
expect_status 1
expect "a fact is printed" '^ +a fact$'
expect "a failure" '^FAILED .* tests .* bad$'
expect "and its words" '^ +what went wrong: "it"$'
expect "a hang" '^timed out +[2-9]\.[0-9] s .* hangs$'
expect "and its words" '^ +begun$'
expect "and that it was ended" '^ +ended after 2 s$'
expect "one that dies in time did not hang" '^FAILED .* killed$'
expect "a missing program" '^missing .* gone$'
expect "and which" '^ +bin/gone is not in this archive$'
expect "a skip is a failure" '^skipped .* lacks$'
expect "variables are set" '^FAILED .* with_mode$'
expect "what comes behind runs" '^passed .* figures .* after$'
expect "a tool that is not here" '^no tool .* no_tool$'
expect "how many" '^gpu-check: 6 of 9 did not pass'
! pgrep -f 'sleep 1234\.5' >/dev/null || fails "what hung is still there"
[ $((SECONDS - began)) -lt 60 ] || fails "it took $((SECONDS - began)) s"
python3 - "$scratch/report/report.json" <<'END' || fails "report.json is not what was printed"
import json, sys
report = json.load(open(sys.argv[1]))
runs = {run["name"]: run for run in report["runs"]}
assert report["passed"] == 2 and report["bad"] == 6, report
assert runs["bad"]["result"] == "FAILED" and runs["bad"]["exit_status"] == 3 and runs["bad"]["is_bad"]
assert runs["bad"]["output"] == ['what went wrong: "it"'], runs["bad"]
assert runs["hangs"]["exit_status"] is None and runs["killed"]["exit_status"] == 137
assert runs["gone"]["result"] == "missing" and runs["gone"]["exit_status"] is None
assert runs["after"]["result"] == "passed" and not runs["after"]["is_bad"]
assert not runs["no_tool"]["is_bad"] and report["machine"]
END
for file in report.txt output.txt; do grep -q 'a fact' "$scratch/report/$file" || fails "$file lacks what was printed"; done

# Every required program ran: passed, though optional ones were left out.
start
row facts 5 must good 20
row rest 0 if-time no_tool 20 a-tool-that-nobody-has - bin/good
check
expect_status 0

# A part leaves later parts the time kept for them; its remaining programs run if time is left, and else count as failures.
start
row first 5 must slow 20
row first 5 must never 20
row last 9 must good 20
check --seconds 16
expect_status 0
[ "$(grep -c never "$scratch/seen")" = 1 ] || fails "what was not come to was not done in the time that was left"
expect "it waited" '^no time .* never$'
expect "the part behind it ran before" '^passed .* last .* good$'
start
row first 5 must hangs 20
row last 3 must never 20
check --seconds 9
expect_status 1
expect "the limit of all" '^no time .* hangs$'

# A machine without a GPU: the first run reports it.
start
row facts 5 must lacks 20
row tests 5 must never 20
check
expect_status 77
expect "why" '^gpu-check: skipped: no such thing here$'
[ ! -e "$scratch/seen" ] || fails "it went on without a GPU"

# A test that lacks something else says nothing about the GPU, though a pattern makes it the first.
start
row facts 5 must good 20
row tests 5 must lacks 20
row tests 5 must after 20 - - bin/good
check --only 'lacks|after'
expect_status 1
expect "it goes on" '^passed .* after$'

# Which libraries without a licence file of their own are NVIDIA's.
PYTHONPATH=$source/scripts/packed PYTHONDONTWRITEBYTECODE=1 python3 -c '
from layout import OF_NVIDIA
for whose, names in {True: "cuda cudart cublasLt cufft cufile cutensor nvrtc nvidia-ml", False: "curl cups cunit ncurses"}.items():
    for name in names.split():
        assert bool(OF_NVIDIA.search(f"/usr/lib/lib{name}.so.1")) == whose, name
' >"$scratch/printed" 2>&1 || fails "a library that is another one"

# A machine whose C library is too old.
sed -i 's/^glibc .*/glibc 99.1/' "$archive/about"
check
expect_status 2
expect "why" '^gpu-check: these programs need glibc 99.1, and this machine has glibc 2'
sed -i 's/^glibc .*/glibc 2.0/' "$archive/about"

# Usage errors are reported.
check --only nothing.is.called.so
expect_status 2
expect "no name" "no run's name matches 'nothing.is.called.so'"
check --sceonds 5
expect_status 2
expect "an argument" "unknown argument '--sceonds'"
"$source/scripts/gpu-check" --packed "$scratch/bin" >"$scratch/printed" 2>&1
status=$?
expect_status 1
expect "no archive" 'is neither an archive of scripts/gpu-pack nor its folder'
exit $failed
