#!/bin/bash
# refuses.sh <exit code> <regular expression> <command...>: the command ends with this code, and its standard error says this.
set -u
code=$1 says=$2
shift 2
said=$("$@" 2>&1 >/dev/null)
got=$?
if [ "$got" != "$code" ] || ! [[ $said =~ $says ]]; then
  printf 'FAIL: code %s in place of %s, or not "%s":\n%s\n' "$got" "$code" "$says" "$said"
  exit 1
fi
