#!/bin/bash
# arrows.sh <source folder> <views> <compiler>: an include along the arrows is found, with all its own includes, and one against them is not.
# <views> has a line for each folder: its name and the include directories of its sources in the build.
set -u
cd "$1" || exit 1
views=$2 compiler=$3 status=0 tried=0

# The header that others would include from a folder.
header_of() {
  case $1 in
    include) echo chime/error.h ;;
    device) echo chime/device/exec/exec.cuh ;;
    device/simt) echo "chime/$(first_header device/simt)" ;;
    host) first_header host/pe ;;
    *) first_header "$1" ;;
  esac
}
first_header() { find "$1" -maxdepth 2 -name '*.hpp' | sort | head -n 1; }

folders=(include net device device/simt bootstrap host/topology host/gpu host/transport host)
declare -A may=(
  [include]="include"
  [net]="net"
  [bootstrap]="include net bootstrap"
  [device/simt]="include device/simt"
  [device]="include device/simt device"
  [host/topology]="host/topology"
  [host/gpu]="include device/simt host/topology host/gpu"
  [host/transport]="include net host/topology host/gpu host/transport"
  [host]="include net device/simt device bootstrap host/gpu host/transport host"
  [user]="include device device/simt"
)

# The file lies in the build folder: beside the headers, quotes would find them without any arrow.
finds() {  # <include directories> <header>
  echo "#include \"$2\"" >"$views.cpp"
  # shellcheck disable=SC2086
  "$compiler" -std=c++20 -E -o /dev/null $1 "$views.cpp" 2>"$views.errors"
}

while read -r from directories; do
  flags=$(printf -- '-I%s ' $directories)
  for to in "${folders[@]}"; do
    header=$(header_of "$to")
    [ -n "$header" ] || { echo "$to has no header to try"; status=1; continue; }
    wanted=no got=no
    [[ " ${may[$from]} " == *" $to "* ]] && wanted=yes
    finds "$flags" "$header" && got=yes
    tried=$((tried + 1))
    [ "$wanted" = "$got" ] && continue
    status=1
    if [ "$wanted" = yes ]; then
      echo "$from may include $to, but \"$header\" is not found there:"
      head -n 3 "$views.errors"
    else
      echo "$from may not include $to, but \"$header\" is found there"
    fi
  done
done <"$views"
echo "$tried includes tried"
[ "$tried" -ge 90 ] || { echo "expected 10 folders x 9 headers"; status=1; }
exit $status
