#!/bin/bash
# one_without_nic.sh <softnic-run> <fabric> <program> [argument...]: a PE of a job in which PE 2 has no NIC and each other has one.
if [ "$CHIME_RUN_PE" = 2 ]; then
  SYSFS_PATH=/nowhere exec "${@:3}"
else
  exec "$1" --fabric "$2" "${@:3}" 2> >(grep -v "rdma_cm is not emulated" >&2)
fi
