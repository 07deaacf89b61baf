# Unmodified programs under faults: the client says by rdma-core's own status what failed, and ends.
#
# softnic_fails(<name> <status> <options of pair.py>...): a client of ib_write_bw; 10 is IBV_WC_REM_ACCESS_ERR, 12
# IBV_WC_RETRY_EXC_ERR.
function(softnic_fails name status)
  add_test(NAME softnic.fails.${name}
    COMMAND ${SOFTNIC_PAIR} --fails --expect "Failed status ${status}:" ${ARGN} -- ib_write_bw ${common} -D 60)
  set_tests_properties(softnic.fails.${name} PROPERTIES LABELS softnic TIMEOUT 300 SKIP_RETURN_CODE 77)
endfunction()

softnic_fails(remote_access 10 --expect "softnic: fault: error: .* remote-access"
  --env=SOFTNIC_FAULTS=error:wqe=100,syndrome=remote-access)
# The other process's NIC goes while messages are on their way to it, or before.
softnic_fails(vanished_peer 12 --env-server=SOFTNIC_FAULTS=vanish:us=2000000)
