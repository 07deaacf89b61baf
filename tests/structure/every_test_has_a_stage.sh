#!/bin/bash
# every_test_has_a_stage.sh <source folder> <build folder>: a stage of .ci/run, or scripts/soak, takes each test, by its labels. What
# has the label soak or rest is left to scripts/soak.
set -u
# Test numbers are the same whatever is asked for. What a stage does not build stands there as <program>_NOT_BUILT.
tests() { ctest --test-dir "$build" -N "$@" | sed -n 's/^ *Test *#[0-9]*: //p' | grep -v '_NOT_BUILT$' | sort; }
build=$2
taken=$(while read -r labels skipped; do tests -L "^($labels)\$" -LE "^($skipped)\$"; done < <("$1/.ci/run" --labels) | sort -u)
[ -n "$taken" ] || { echo "no stage of .ci/run takes any test"; exit 1; }
forgotten=$(comm -23 <(tests -LE '^(soak|rest)$') <(echo "$taken"))
[ -z "$forgotten" ] && exit
echo "no stage of .ci/run has a label of these tests:"
echo "$forgotten"
exit 1
