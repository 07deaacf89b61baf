// Events of objects that firmware commands made: their numbers are the PRM's. A program gets those
// that it subscribed to, by a channel or an eventfd.

#include <infiniband/mlx5dv.h>
#include <poll.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <sys/eventfd.h>

#include "kernel_calls.hpp"
#include "routes.hpp"
#include "wait.hpp"

namespace direct {
namespace {

// PRM, "Event types".
constexpr std::uint16_t kCompletion = 0x00, kCqError = 0x04, kRequestError = 0x10,
                        kAccessError = 0x11;

bool is_readable(int fd, std::chrono::milliseconds within = std::chrono::milliseconds(0)) {
  pollfd waiting{fd, POLLIN, 0};
  return ::poll(&waiting, 1, static_cast<int>(within.count())) == 1;
}

class Channel {
 public:
  explicit Channel(bool with_data)
      : with_data_(with_data),
        channel_(check(mlx5dv_devx_create_event_channel(
                           Hca::instance().context(),
                           with_data ? mlx5dv_devx_create_event_channel_flags{}
                                     : MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA),
                       "event channel")) {}
  ~Channel() { mlx5dv_devx_destroy_event_channel(channel_); }

  int subscribe(mlx5dv_devx_obj* object, std::vector<std::uint16_t> types, std::uint64_t cookie) {
    return mlx5dv_devx_subscribe_devx_event(
        channel_, object, static_cast<std::uint16_t>(2 * types.size()), types.data(), cookie);
  }
  int count_in(int fd, mlx5dv_devx_obj* object, std::uint16_t type) {
    return mlx5dv_devx_subscribe_devx_event_fd(channel_, fd, object, type);
  }
  bool has_event() const { return is_readable(channel_->fd); }

  struct Event {
    std::uint64_t cookie;
    std::uint8_t entry[64];
    std::uint32_t number(unsigned at) const {
      std::uint32_t value;
      std::memcpy(&value, entry + at, 4);
      return be32toh(value);
    }
  };
  // The buffer has room for two, but a read takes one.
  Event next() const {
    if (!is_readable(channel_->fd, kDeadline)) throw std::runtime_error("no event came");
    Event two[2] = {};
    const auto bytes = mlx5dv_devx_get_event(
        channel_, reinterpret_cast<mlx5dv_devx_async_event_hdr*>(two), sizeof two);
    EXPECT_EQ(bytes, with_data_ ? 72 : 8);
    return two[0];
  }

 private:
  bool with_data_;
  mlx5dv_devx_event_channel* channel_;
};

class DevxEvents : public testing::Test {
 protected:
  static DevxEndpoint& devx(const std::unique_ptr<Endpoint>& of) {
    return dynamic_cast<DevxEndpoint&>(*of);
  }
  // The right side refuses a write.
  void fail_a_write() {
    left.sends.post_and_ring(
        Wqe(kWrite).remote(memory.at(0), 0x7700).data(memory.at(0), 8, memory.lkey()));
    EXPECT_EQ(unsigned{left.sent.next().syndrome()}, 0x13u);
  }
  // A completion queue of the left side runs over.
  static void overrun(DevxEndpoint& full) {
    full.sent.updates_record = false;
    for (unsigned i = 0; i < full.sent.entries + 1; ++i) full.sends.post(Wqe(kNop));
    full.sends.ring_doorbell();
  }

  static Options tiny() {
    Options options;
    options.completions = 16;
    return options;
  }
  Memory memory{4096};
  Pair pair{kDevx, tiny()};
  DevxEndpoint& left = devx(pair.left);
  DevxEndpoint& right = devx(pair.right);
};

TEST_F(DevxEvents, AccessErrorHasThePrmsNumber) {
  Channel channel(/*with_data=*/true);
  ASSERT_EQ(channel.subscribe(right.object(), {kRequestError, kAccessError}, 7), 0);
  fail_a_write();
  const Channel::Event event = channel.next();
  EXPECT_EQ(event.cookie, 7u);
  EXPECT_EQ(event.entry[1], kAccessError);
  EXPECT_EQ(event.number(56), right.qpn());
  EXPECT_FALSE(channel.has_event());
}

TEST_F(DevxEvents, ErrorOfACompletionQueueHasThePrmsNumber) {
  Channel channel(/*with_data=*/true);
  ASSERT_EQ(channel.subscribe(left.send_cq(), {kCqError}, 8), 0);
  overrun(left);
  const Channel::Event event = channel.next();
  EXPECT_EQ(event.cookie, 8u);
  EXPECT_EQ(event.entry[1], kCqError);
  EXPECT_EQ(event.number(32), left.send_cqn());
}

TEST_F(DevxEvents, CompletionComesToAnArmedQueue) {
  Channel channel(/*with_data=*/true);
  ASSERT_EQ(channel.subscribe(left.send_cq(), {kCompletion}, 9), 0);
  const auto page = reinterpret_cast<std::uintptr_t>(left.sends.doorbell) & ~std::uintptr_t{4095};
  left.sent.record[1] = htobe32(1u << 28);  // the first arming, for any completion
  const std::uint32_t doorbell[] = {left.sent.record[1], htobe32(left.send_cqn())};
  std::uint64_t word;
  std::memcpy(&word, doorbell, sizeof word);
  std::atomic_ref(*reinterpret_cast<std::uint64_t*>(page + 0x20)).store(word);
  left.sends.post_and_ring(Wqe(kNop));
  const Channel::Event event = channel.next();
  EXPECT_EQ(event.cookie, 9u);
  EXPECT_EQ(event.entry[1], kCompletion);
  EXPECT_EQ(event.number(56), left.send_cqn());
}

TEST_F(DevxEvents, ComeWithoutDataWhereNobodyWantsIt) {
  Channel channel(/*with_data=*/false);
  ASSERT_EQ(channel.subscribe(right.object(), {kAccessError}, 11), 0);
  fail_a_write();
  EXPECT_EQ(channel.next().cookie, 11u);
}

TEST_F(DevxEvents, OnlyThoseAskedForCome) {
  Channel channel(/*with_data=*/false);
  ASSERT_EQ(channel.subscribe(right.object(), {kRequestError}, 1), 0);
  ASSERT_EQ(channel.subscribe(left.object(), {kAccessError}, 2), 0);
  fail_a_write();
  EXPECT_FALSE(channel.has_event());
}

TEST_F(DevxEvents, AreCountedByAnEventfd) {
  Channel channel(/*with_data=*/false);
  const int counter = ::eventfd(0, EFD_CLOEXEC);
  ASSERT_EQ(channel.count_in(counter, right.object(), kAccessError), 0);
  fail_a_write();
  ASSERT_TRUE(is_readable(counter, kDeadline));
  std::uint64_t count = 0;
  EXPECT_EQ(::read(counter, &count, sizeof count), 8);
  EXPECT_EQ(count, 1u);
  EXPECT_FALSE(channel.has_event());
  ::close(counter);
}

// The next channel may have the number of the closed one.
TEST_F(DevxEvents, GoNowhereOnceTheirChannelIsClosed) {
  auto channel = std::make_unique<Channel>(/*with_data=*/false);
  ASSERT_EQ(channel->subscribe(right.object(), {kAccessError}, 1), 0);
  channel.reset();
  const Channel next(/*with_data=*/false);
  fail_a_write();
  EXPECT_FALSE(next.has_event());
}

// Verbs has no objects for those that firmware commands made: an event would name a null object.
TEST_F(DevxEvents, StayOffTheVerbsChannel) {
  fail_a_write();
  EXPECT_EQ(right.state(), unsigned{IBV_QPS_ERR});
  EXPECT_FALSE(is_readable(Hca::instance().context()->async_fd));
}

// The kernel's refusals.
TEST_F(DevxEvents, OfTypesThatTheDeviceDoesNotHaveAreRefused) {
  Channel channel(/*with_data=*/false);
  for (const std::uint16_t type : {0x06, 0x08, 0x09, 0x0c, 0x19, 0x27, 0xff, 0x100, 0x111})
    EXPECT_EQ(channel.subscribe(right.object(), {kAccessError, type}, 1), EINVAL) << type;
  for (const std::uint16_t type : {0x01, 0x02, 0x03, 0x05, 0x07, 0x12, 0x13, 0x14, 0x18, 0x1c})
    EXPECT_EQ(channel.subscribe(right.object(), {kAccessError, type}, 1), 0) << type;
  EXPECT_EQ(channel.subscribe(nullptr, {0x09}, 1), 0);  // of the port
  EXPECT_EQ(channel.subscribe(nullptr, {kAccessError}, 1), EINVAL);
}

TEST_F(DevxEvents, OfADomainAreRefused) {
  EXPECT_EQ(subscribe(Hca::instance().pd()->handle, 2), EINVAL);
}

TEST_F(DevxEvents, AreNotCountedByWhatIsNoEventfd) {
  Channel channel(/*with_data=*/false);
  const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(channel.count_in(file, right.object(), kAccessError), EINVAL);
  ::close(file);
  EXPECT_EQ(channel.count_in(file, right.object(), kAccessError), EBADF);
}

TEST_F(DevxEvents, ChannelsHaveNoOtherFlags) {
  EXPECT_EQ(
      KernelMessage(MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC)
          .handle(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, 0)
          .number(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, 2, 4)
          .send(),
      EINVAL);
}

}  // namespace
}  // namespace direct
