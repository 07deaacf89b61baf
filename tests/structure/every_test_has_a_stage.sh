#!/bin/bash
# every_test_has_a_stage.sh <source folder> <build folder>: by its labels, a stage of .ci/run or scripts/soak runs each test. Tests with the label
# soak or rest are left to scripts/soak.
set -u
# Test numbers are the same for every selection. A program that a stage does not build is listed as <program>_NOT_BUILT.
tests() { ctest --test-dir "$build" -N "$@" | sed -n 's/^ *Test *#[0-9]*: //p' | grep -v '_NOT_BUILT$' | sort; }
build=$2
taken=$(while read -r labels skipped; do tests -L "^($labels)\$" -LE "^($skipped)\$"; done < <("$1/.ci/run" --labels) | sort -u)
[ -n "$taken" ] || { echo "no stage of .ci/run takes any test"; exit 1; }
forgotten=$(comm -23 <(tests -LE '^(soak|rest)$') <(echo "$taken"))
[ -z "$forgotten" ] && exit
echo "no stage of .ci/run has a label of these tests:"
echo "$forgotten"
exit 1
