#!/bin/sh
# on_its_own_node.sh <command...>: runs it as if on another machine, whose kernel was booted at another time. Needs root.
if [ -z "${CHIME_TEST_APART:-}" ]; then exec env CHIME_TEST_APART=1 unshare --mount "$0" "$@"; fi
boot_id=$(mktemp) && echo "booted-for-process-$$" >"$boot_id" &&
  mount --bind "$boot_id" /proc/sys/kernel/random/boot_id && rm -f "$boot_id" && exec "$@"
