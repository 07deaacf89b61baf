#!/bin/sh
# exit_codes_test.sh <chime-info>: a wrong option, and output that cannot be written, have exit code 2.
info=$1
expect() {  # <exit code> <where the output goes> <option...>
  wanted=$1 to=$2
  shift 2
  "$info" "$@" >"$to" 2>/dev/null
  code=$?
  [ $code = "$wanted" ] || { echo "chime-info $* >$to has exit code $code, not $wanted"; exit 1; }
}
expect 2 /dev/null --no-such-option
expect 2 /dev/null --collectives many
expect 0 /dev/null --help
expect 0 /dev/null --version
for option in --help --version --json --variables --collectives "--predict --devices" "--predict --gpu H100"; do
  # shellcheck disable=SC2086
  expect 2 /dev/full $option
done
expect 2 /dev/full
