#!/bin/bash
# library_needs.sh <libchime.so>: drivers, fabrics and launchers are loaded if present, never linked: one binary runs on a machine without any of them
# (hwloc: when a GPU or a NIC is to be chosen). Nor is fmt: its library has another name in each release of a distribution.
set -u
needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
[ -n "$needed" ] || { echo "readelf found no needed library in $1"; exit 1; }
echo "$needed"
! grep -E '^lib(cuda|cudart|nvidia|fmt|ibverbs|mlx5|hwloc|fabric|pmix|mpi|open-)' <<<"$needed"
