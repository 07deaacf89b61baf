# perftest. -F: it need not know the CPU's frequency. Few iterations: rows are about behaviour, perf/softnic_perf measures.
set(common -p {port} -F)
set(few ${common} -n 200)
# 2 bytes to 8 MiB. perftest finds out the clock's rate anew for each size, 0.22 s of spinning (its get_clock.c), and a
# second time for a latency in microseconds: that, and nothing of the NIC, is 5 s of these rows.
set(sweep ${common} -a -n 20)
set(all_sizes "^ *2 +[0-9]+ +[0-9.]" "^ *8388608 +[0-9]+ +[0-9.]")
set(one_size "^ *[0-9]+ +[0-9]+ +[0-9.]")

foreach(operation write read send)
  softnic_matrix(ib_${operation}_bw.sweep EXPECT ${all_sizes} RUN ib_${operation}_bw ${sweep} -t 16)
  softnic_matrix(ib_${operation}_lat.sweep EXPECT ${all_sizes} RUN ib_${operation}_lat ${sweep} --report-cycles)
  softnic_matrix(ib_${operation}_bw.queue_pairs EXPECT ${one_size} RUN ib_${operation}_bw ${few} -q 8)
  softnic_matrix(ib_${operation}_bw.both_ways EXPECT ${one_size} RUN ib_${operation}_bw ${few} -b)
  softnic_matrix(ib_${operation}_bw.old_post EXPECT ${one_size} RUN ib_${operation}_bw ${few} --use_old_post_send)
  softnic_matrix(ib_${operation}_bw.lists EXPECT ${one_size} RUN ib_${operation}_bw ${few} -l 8 -t 64)
  softnic_matrix(ib_${operation}_bw.ethernet ETHERNET EXPECT ${one_size} RUN ib_${operation}_bw ${few} -x 3)
  softnic_matrix(ib_${operation}_lat.ethernet ETHERNET EXPECT ${one_size} RUN ib_${operation}_lat ${few} -x 3)
endforeach()

foreach(operation write send)
  softnic_matrix(ib_${operation}_bw.inline EXPECT ${one_size} RUN ib_${operation}_bw ${few} -s 8 -I 8)
  softnic_matrix(ib_${operation}_lat.inline EXPECT ${one_size} RUN ib_${operation}_lat ${few} -s 8 -I 8)
  softnic_matrix(ib_${operation}_bw.uc EXPECT ${one_size} RUN ib_${operation}_bw ${few} -c UC)
endforeach()
foreach(operation read send)  # there are none for writes
  softnic_matrix(ib_${operation}_bw.events EXPECT ${one_size} RUN ib_${operation}_bw ${few} -e)
endforeach()
softnic_matrix(ib_send_bw.ud EXPECT ${one_size} RUN ib_send_bw ${few} -c UD -s 1024)
softnic_matrix(ib_send_bw.ud.ethernet ETHERNET EXPECT ${one_size} RUN ib_send_bw ${few} -c UD -s 1024 -x 3)
softnic_matrix(ib_send_lat.ud EXPECT ${one_size} RUN ib_send_lat ${few} -c UD -s 1024)
softnic_matrix(ib_send_bw.srq EXPECT ${one_size} RUN ib_send_bw ${few} -q 4 -r 512 --use-srq)

foreach(atomic FETCH_AND_ADD CMP_AND_SWAP)
  softnic_matrix(ib_atomic_bw.${atomic} EXPECT ${one_size} RUN ib_atomic_bw ${few} -A ${atomic})
  softnic_matrix(ib_atomic_lat.${atomic} EXPECT ${one_size} RUN ib_atomic_lat ${few} -A ${atomic})
endforeach()
softnic_matrix(ib_atomic_bw.queue_pairs EXPECT ${one_size} RUN ib_atomic_bw ${few} -q 8)
softnic_matrix(ib_atomic_bw.ethernet ETHERNET EXPECT ${one_size} RUN ib_atomic_bw ${few} -x 3)
