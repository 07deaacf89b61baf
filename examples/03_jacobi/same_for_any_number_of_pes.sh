#!/bin/bash
# same_for_any_number_of_pes.sh <chime-run> <jacobi>: 1, 2, 3 and 5 PEs print the same norms and the same field.
set -eu
options=(--rows 31 --columns 47 --iterations 150)
alone=$("$1" -n 1 "$2" "${options[@]}" | grep -oE '(iteration|field).*')
[ "$(wc -l <<<"$alone")" = 4 ] || { echo "expected 3 norms and the field, got:"; echo "$alone"; exit 1; }
for pes in 2 3 5; do
  together=$("$1" -n $pes "$2" "${options[@]}" | grep -oE '(iteration|field).*')
  [ "$alone" = "$together" ] && continue
  echo "$pes PEs differ from one:"
  diff <(echo "$alone") <(echo "$together")
  exit 1
done
echo "$alone"
