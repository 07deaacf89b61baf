#!/bin/bash
# paths.sh <compiler> <views>: CHIME_PATHS names paths: one of them, several, all; any other word is an error that lists the valid ones.
set -u
compiler=$1 status=0
read -r -a directories < <(sed -n 's/^user //p' "$2")
flags=(-std=c++20 -fsyntax-only -x c++)
for directory in "${directories[@]}"; do flags+=("-I$directory"); done

# said <value>: the compiler's output for a program whose CHIME_PATHS is <value>; its exit status.
said() { echo '#include "chime/device/path/paths.cuh"' | "$compiler" "${flags[@]}" "-DCHIME_PATHS=$1" - 2>&1; }

for value in CHIME_PATH_P2P CHIME_PATH_NIC CHIME_PATH_PROXY CHIME_PATH_ALL 'CHIME_PATH_P2P | CHIME_PATH_NIC'; do
  words=$(said "$value") || { echo "CHIME_PATHS=$value: $words"; status=1; }
done
for value in p2p 0 1 '1 << 4' 'CHIME_PATH_P2P | 1'; do
  words=$(said "$value") && { echo "CHIME_PATHS=$value is taken"; status=1; }
  grep -q 'CHIME_PATHS is one or more of CHIME_PATH_P2P, CHIME_PATH_NIC and CHIME_PATH_PROXY' <<<"$words" ||
    { echo "CHIME_PATHS=$value: $words"; status=1; }
done

# Paths that a program does not select are not compiled.
compiled() {
  echo '#include "chime/device/path/paths.cuh"
static_assert(chime::detail::kIsCompiled<chime::Path::'"$2"'> == '"$3"');' | "$compiler" "${flags[@]}" "-DCHIME_PATHS=$1" - ||
    { echo "CHIME_PATHS=$1: $2 is not $3"; status=1; }
}
compiled 'CHIME_PATH_P2P | CHIME_PATH_PROXY' kP2p true
compiled 'CHIME_PATH_P2P | CHIME_PATH_PROXY' kNic false
compiled 'CHIME_PATH_P2P | CHIME_PATH_PROXY' kProxy true
exit $status
