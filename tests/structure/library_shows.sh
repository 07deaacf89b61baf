#!/bin/bash
# library_shows.sh <libchime.so>: it exports the names of its headers and no other: a template of the standard library or of fmt, or a sanitizer's
# hook, would replace the program's own, which may be another version. And it stays loaded: a dlclose would unmap it under its threads.
set -u
shown=$(nm -D --defined-only "$1" | awk '{print $3}')
count=$(wc -l <<<"$shown")
[ "$count" -gt 800 ] || { echo "nm found only $count names in $1"; exit 1; }
if others=$(c++filt <<<"$shown" | grep -vE '^(chime|nvshmem)x?_|^chime::(exec|simt)::|^chime::(host_)?context\(\)$'); then
  echo "$1 shows what no header declares:"
  echo "$others"
  exit 1
fi
for name in chime_init chimex_last_status chime_float_put nvshmem_init nvshmem_float_put nvshmem_my_pe; do
  grep -qx "$name" <<<"$shown" || { echo "$1 does not show $name"; exit 1; }
done
readelf -d "$1" | grep -q NODELETE || { echo "$1 is not linked with -z nodelete"; exit 1; }
