# rdma-core's own programs. -c makes the receiver check every byte.
softnic_matrix(ibv_devices ALONE EXPECT "mlx5_0 +\t0c42a10300e00001" RUN ibv_devices)
softnic_matrix(ibv_devinfo ALONE
  EXPECT "hca_id:\tmlx5_0" "state:\t+PORT_ACTIVE" "link_layer:\t+InfiniBand" "atomic_cap:\t+ATOMIC_HCA"
  RUN ibv_devinfo -v)
softnic_matrix(ibv_devinfo.ethernet ALONE ETHERNET
  EXPECT "link_layer:\t+Ethernet" "GID\\[ +3\\]:\t+::ffff:127.0.0.1, RoCE v2"
  RUN ibv_devinfo -v)

set(done "1000 iters in [0-9.]+ seconds")
foreach(transport rc uc ud srq)
  set(program ibv_${transport}_pingpong -c -p {port})
  softnic_matrix(ibv_${transport}_pingpong EXPECT ${done} EXPECT_SERVER ${done} RUN ${program})
  softnic_matrix(ibv_${transport}_pingpong.events EXPECT ${done} EXPECT_SERVER ${done} RUN ${program} -e)
  softnic_matrix(ibv_${transport}_pingpong.ethernet ETHERNET EXPECT ${done} EXPECT_SERVER ${done} RUN ${program} -g 3)
endforeach()
