#!/bin/bash
# softnic_variables.sh <source folder>: each variable of the softnic (kVariables in softnic/observe/settings.cpp) has its row in docs/softnic.md, each
# row is one of them, and the softnic and softnic-run read no others.
set -u
cd "$1" || exit 1
status=0

known=$(sed -n '/kVariables\[\] = {/,/};/p' softnic/observe/settings.cpp | grep -oE '"[A-Z_]+"' | tr -d '"' | sed 's/^/SOFTNIC_/' | sort)
rows=$(grep -oE '^\| `SOFTNIC_[A-Z_]+` \|' docs/softnic.md | grep -oE 'SOFTNIC_[A-Z_]+' | sort)
read_by_name=$(grep -ohE 'getenv\("SOFTNIC_[A-Z_]+"\)' softnic/*/*.cpp tools/softnic-run/*.cpp | grep -oE 'SOFTNIC_[A-Z_]+' | sort -u)

# differ <one list> <another> <what is wrong>
differ() {
  local only
  only=$(comm -23 <(echo "$1") <(echo "$2"))
  [ -z "$only" ] && return
  printf '%s\n%s\n' "$3" "$only"
  status=1
}

differ "$known" "$rows" 'docs/softnic.md has no row in its table of variables for:'
differ "$rows" "$known" 'docs/softnic.md has a row for what softnic/observe/settings.cpp does not list:'
differ "$read_by_name" "$known" 'read, and not in the list of softnic/observe/settings.cpp:'
differ "$known" "$read_by_name" 'in the list of softnic/observe/settings.cpp, and never read:'
count=$(echo "$known" | wc -l)
echo "$count variables"
[ "$count" -ge 5 ] || { echo "expected at least 5 variables: has the list moved?"; status=1; }
exit $status
