#!/bin/bash
# every_test_has_a_stage.sh <source folder> <build folder>: a stage of .ci/run or scripts/soak runs each test, by a label.
set -u
labels=$("$1/.ci/run" --labels) || exit 1
# What a stage does not build stands there as <program>_NOT_BUILT, without labels.
forgotten=$(ctest --test-dir "$2" -N -LE "^($labels|soak)\$" | sed -n 's/^ *Test *#[0-9]*: //p' | grep -v '_NOT_BUILT$')
[ -z "$forgotten" ] && exit
echo "no stage of .ci/run has a label of these tests:"
echo "$forgotten"
exit 1
