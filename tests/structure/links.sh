#!/bin/bash
# links.sh <source folder>: every relative link of every page has a target, and every folder with sources in the map of docs/architecture.md has a
# README. Each test that docs/porting.md names exists: its folder, and its name there.
set -u
cd "$1" || exit 1
status=0 count=0

while read -r page; do
  while read -r link; do
    count=$((count + 1))
    [ -e "$(dirname "$page")/${link%%#*}" ] && continue
    echo "$page links $link, which does not exist"
    status=1
  done < <(grep -oE '\]\([^)#: ]+[^): ]*\)' "$page" | sed -E 's/^\]\((.*)\)$/\1/')
done < <(find . -path ./build -prune -o -path ./.git -prune -o -name '*.md' -print)

for folder in include/chime include/chime/abi device device/simt bootstrap host tools examples perf tests; do
  [ -e "$folder/README.md" ] && continue
  echo "$folder has no README.md"
  status=1
done

# The last column of a row of four: a folder under tests/, or several, each with tests in backticks. A folder without a slash may be one beside the
# last. The last part of a ctest name is looked up: compat `mpi.parts`.
witnesses=0 beside=
while IFS= read -r witness; do
  place=${witness%%\`*} place=${place%% }
  if [ "$witness" = - ]; then continue; fi
  if [ -n "$place" ]; then
    found=
    for path in "tests/$place" "tests/$beside/$place" "tests/${place}_test.cu" "tests/$beside/${place}_test.cu"; do
      [ ! -e "$path" ] || found=$path
    done
    [ "$found" ] || { echo "docs/porting.md names tests/$place, which does not exist"; status=1; continue; }
    beside=$(dirname "${found#tests/}")
  fi
  witnesses=$((witnesses + 1))
  name=${witness#*\`} name=${name%\`}
  [ "$name" != "$witness" ] || continue
  grep -rqwF -- "${name##*.}" "$found" || { echo "docs/porting.md names the test $name, which is not in $found"; status=1; }
done < <(sed '/^## Public programs/,$d' docs/porting.md | awk -F' *[|] *' 'NF == 6 && $5 != "test" && $5 !~ /^-*$/ { print $5 }' | sed 's/, */\n/g')
[ "$witnesses" -ge 70 ] || { echo "expected at least 70 tests in docs/porting.md, not $witnesses"; status=1; }
echo "$count links followed, $witnesses tests looked for"
[ "$count" -ge 15 ] || { echo "expected at least 15 links: is the source folder right?"; status=1; }
exit $status
