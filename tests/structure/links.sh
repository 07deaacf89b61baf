#!/bin/bash
# links.sh <source folder>: every relative link of every README leads to something, and every folder with sources of
# the map in README.md has a README.
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
echo "$count links followed"
[ "$count" -ge 15 ] || { echo "expected at least 15 links: is the source folder right?"; status=1; }
exit $status
