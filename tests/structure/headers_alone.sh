#!/bin/bash
# headers_alone.sh <compiler> <public|all> <source folder> <views> <scratch folder> [compiler cache]: each public header, or each header of users'
# kernels, compiles by itself, twice in one file, without a warning; headers that C programs include also as C.
set -u
compiler=$1 which=$2 scratch=$5 cache=${6-} status=0 count=0
command -v "$compiler" >/dev/null || { echo "skipped: no $compiler on this machine"; exit 77; }
mkdir -p "$scratch" && cd "$3" || exit 1
flags=(-Wall -Wextra -Werror)
read -r -a directories < <(sed -n 's/^user //p' "$4")
for directory in "${directories[@]}"; do flags+=("-I$directory"); done

# To an object, which a compiler cache can keep. A header without own declarations only needs its includes to be found.
check() {  # <language> <standard> <header>
  local file=$scratch/alone compile=(${cache:+"$cache"} "$compiler" -c)
  count=$((count + 1))
  printf '#include "%s"\n#include "%s"\n' "$3" "$3" >"$file"
  if only_includes "$3"; then compile=("$compiler" -E); fi
  "${compile[@]}" "${flags[@]}" -x "$1" -std="$2" "$file" -o "$file.o" && return
  echo "^^ \"$3\" does not compile alone as $2"
  status=1
}

only_includes() { [ -f "include/$1" ] && ! grep -qvE "^(//.*|#include .*|#pragma once|)\$" "include/$1"; }

# chime/nvrtc replaces the standard's headers where there are none.
public_headers() {
  (cd include && find chime compat -path chime/nvrtc -prune -o '(' -name '*.h' -o -name '*.hpp' -o -name '*.cuh' ')' -print) | sort
}
# *_cuda*.cuh and ptx*.cuh are for nvcc; the preset cuda compiles them.
inner_headers() {
  find device -name '*.cuh' -o -name '*.hpp' | grep -vE '/([a-z]+_cuda[a-z_]*|ptx(_memory|_multimem)?)\.cuh$' | sed 's|^|chime/|' | sort
}
for header in $(public_headers) $([ "$which" = public ] || inner_headers); do check c++ c++20 "$header"; done
for header in $(cd include && { find chime -maxdepth 1 -name '*.h'; find compat -name '*.h'; } | sort); do
  check c c11 "$header"
done
echo "$count headers with $compiler"
[ "$count" -ge 10 ] || { echo "expected at least 10: is the source folder right?"; status=1; }
exit $status
