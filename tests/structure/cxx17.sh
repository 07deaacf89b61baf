#!/bin/bash
# cxx17.sh <compiler> <source folder> <views>: code that needs C++20 reports that to a C++17 compiler in one error, without further errors: each
# public header alone, and a program. Headers of C, and chime.h with CHIME_HOST_ONLY, need no C++20.
set -u
compiler=$1 status=0 refused=0 accepted=0
command -v "$compiler" >/dev/null || { echo "skipped: no $compiler on this machine"; exit 77; }
cd "$2" || exit 1
case $compiler in
  *nvcc) language=cu read_it=(-cuda -o /dev/null) compile_it=(-cuda -o /dev/null) ;;
  # The error is the preprocessor's, and must end the output: clang would compile the rest without errors.
  *) language=c++ read_it=(-E -o /dev/null) compile_it=(-fsyntax-only -Wall -Wextra -Werror) ;;
esac
read -r -a directories < <(sed -n 's/^user //p' "$3")
flags=(-std=c++17)
for directory in "${directories[@]}"; do flags+=("-I$directory"); done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# errors <source text> <option>...: the compiler's errors.
errors() {
  printf '%s\n' "$1" >"$scratch/one"
  "$compiler" "${flags[@]}" "${@:2}" -x "$language" "$scratch/one" 2>&1
}

refuse() {  # <what it is> <source text>
  local said
  refused=$((refused + 1))
  said=$(errors "$2" "${read_it[@]}")
  [ "$(grep -c 'error: ' <<<"$said")" = 1 ] && grep -q "error: .*Chime's device side is C++20: compile with -std=c++20" <<<"$said" && return
  echo "$1: not the one error:"
  head -n 20 <<<"$said"
  status=1
}

accept() {  # <what it is> <source text>
  local said
  accepted=$((accepted + 1))
  said=$(errors "$2" "${compile_it[@]}") && return
  echo "$1 needs no C++20, but:"
  head -n 20 <<<"$said"
  status=1
}

c_headers='^chime/(error|families|host_ops|types|cxx20|export|abi/tu_state)\.h$'
headers=$( (cd include && find chime -path chime/nvrtc -prune -o '(' -name '*.h' -o -name '*.hpp' -o -name '*.cuh' ')' -print; find ../device -name '*.cuh' | sed 's|^../device|chime/device|') |
  grep -vE '/([a-z]+_cuda[a-z_]*|ptx(_memory|_multimem)?)\.cuh$' | sort)
[ "$language" = c++ ] || headers="chime/chime.h chime/chime_device.cuh chime/device/rma.cuh"  # nvcc takes a second for each
for header in $headers; do
  case $(grep -cE "$c_headers" <<<"$header") in
    0) refuse "$header" "#include \"$header\"" ;;
    *) [ "$header" = chime/cxx20.h ] || accept "$header" "#include \"$header\"" ;;
  esac
done
refuse "a program" "$(cat examples/01_hello/hello.cpp)"
accept "chime.h with CHIME_HOST_ONLY" '#define CHIME_HOST_ONLY
#include <chime/chime.h>
int main() { chime_init(); chime_finalize(); }'
echo "$refused refused, $accepted accepted with $compiler"
[ "$refused" -ge 4 ] || { echo "expected at least 4: is the source folder right?"; status=1; }
exit $status
