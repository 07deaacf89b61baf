// Operations of a PE on several streams at once: no stream waits for another's operations, and each
// moves the named bytes, of any size and from any memory.
#include "conformance/host_operands.hpp"
#include "support/image.hpp"

namespace chime::tests {
namespace {

class OwnStream {
 public:
  OwnStream() {
    if (exec::stream_create(&stream_) != CHIMEX_OK) throw PeStopped("no stream");
  }
  ~OwnStream() {
    exec::stream_synchronize(stream_);
    exec::stream_destroy(stream_);
  }
  OwnStream(const OwnStream&) = delete;
  operator chimex_stream_t() const { return stream_; }
  void synchronize() const { EXPECT_EQ(CHIMEX_OK, exec::stream_synchronize(stream_)); }

 private:
  exec::Stream stream_ = {};
};

// More than a GPU's PE moves at once to and from an unmapped PE.
constexpr std::size_t kLong = (std::size_t{1} << 20) + 300 * 1024 + 13;

std::vector<Shape> all_shapes() {
  return {{0, 0, 0}, {1, 1, 2}, {28, 3, 5}, {37, 0, 9}, {517, 7, 1}, {4096, 0, 0}, {kLong, 3, 6}};
}

template <class Memory>
void expect_puts_are_exact(Pe& pe, bool nbi) {
  const Picture picture(all_shapes(), 1);
  OwnStream stream;
  Symmetric<std::byte> target(picture.bytes());
  Memory source(picture.bytes());
  source.write(picture.source(pe.rank()));
  target.fill(int(kGuard));
  pe.barrier();
  for (const Piece& piece : picture.pieces()) {
    const auto put = nbi ? chimex_putmem_nbi_on_stream : chimex_putmem_on_stream;
    put(target + piece.target, source.data() + piece.source, piece.count, pe.next(), stream);
  }
  chimex_quiet_on_stream(stream);
  chimex_barrier_all_on_stream(stream);
  stream.synchronize();
  EXPECT_TRUE(picture.same(picture.target(pe.previous()), target.read()));
  pe.barrier();
}

template <class Memory>
void expect_gets_are_exact(Pe& pe) {
  const Picture picture(all_shapes(), 1);
  OwnStream stream;
  Symmetric<std::byte> source(picture.bytes());
  Memory target(picture.bytes());
  source.write(picture.source(pe.rank()));
  target.write(std::vector<std::byte>(picture.bytes(), kGuard));
  pe.barrier();
  for (const Piece& piece : picture.pieces())
    chimex_getmem_on_stream(target.data() + piece.target, source + piece.source, piece.count,
                            pe.next(), stream);
  stream.synchronize();
  EXPECT_TRUE(picture.same(picture.target(pe.next()), target.read()));
  pe.barrier();
}

IN_EVERY_WORLD(HostStreams, MoveExactlyTheNamedBytesOfAnyMemory) {
  world.spawn(1, [](Pe& pe) {
    for_each_operand([&]<class M>(MemoryTag<M>) {
      expect_puts_are_exact<M>(pe, false);
      expect_puts_are_exact<M>(pe, true);
      expect_gets_are_exact<M>(pe);
    });
  });
}

// One stream waits for a signal that another stream sends, and has more operations queued behind it
// than there are staging slots: the other stream proceeds all the same, and so does the host.
IN_EVERY_WORLD(HostStreams, AStreamThatWaitsDelaysNone) {
  world.spawn(1, [](Pe& pe) {
    constexpr std::size_t kBytes = 3000, kPuts = 100;
    OwnStream waiting, sending;
    Symmetric<std::byte> late(kPuts * kBytes), early(kBytes), of_host(kBytes);
    Symmetric<std::uint64_t> go(1), done(1);
    OfDevice source(kBytes);
    source.write(std::vector<std::byte>(kBytes, std::byte(pe.rank() + 1)));
    Pageable mine(kBytes);
    mine.write(std::vector<std::byte>(kBytes, std::byte(pe.rank() + 101)));
    pe.barrier();
    chimex_signal_wait_until_on_stream(go, CHIME_CMP_EQ, 1, waiting);
    for (std::size_t i = 0; i < kPuts; ++i)
      chimex_putmem_on_stream(late + i * kBytes, source, kBytes, pe.next(), waiting);
    chimex_signal_op_on_stream(done, 1, CHIME_SIGNAL_ADD, pe.next(), waiting);
    chime_putmem(of_host, mine.data(), kBytes, pe.next());
    chimex_putmem_on_stream(early, mine.data(), kBytes, pe.next(), sending);
    chimex_putmem_signal_on_stream(early, source, kBytes, go, 1, CHIME_SIGNAL_SET, pe.next(),
                                   sending);
    chimex_signal_wait_until_on_stream(done, CHIME_CMP_EQ, 1, sending);
    sending.synchronize();
    waiting.synchronize();
    const std::byte theirs = std::byte(pe.previous() + 1);
    EXPECT_EQ(std::vector<std::byte>(kPuts * kBytes, theirs), late.read());
    EXPECT_EQ(std::vector<std::byte>(kBytes, theirs), early.read());
    pe.barrier();
    EXPECT_EQ(std::vector<std::byte>(kBytes, std::byte(pe.previous() + 101)), of_host.read());
    pe.barrier();
  });
}

// Each stream has its own data, which the other PE gets on streams of its own.
IN_EVERY_WORLD(HostStreams, SeveralMoveAtOnce) {
  world.spawn(1, [](Pe& pe) {
    constexpr std::size_t kStreams = 4, kBytes = 70000, kRounds = 4;
    OwnStream streams[kStreams];
    Symmetric<std::byte> target(kStreams * kBytes), back(kStreams * kBytes);
    Symmetric<std::uint64_t> arrived(kStreams);
    OfDevice of_device(kStreams * kBytes);
    Pageable pageable(kStreams * kBytes);
    std::vector<std::byte> data(kStreams * kBytes);
    pe.barrier();
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = std::byte(static_cast<unsigned char>(i / 7 + round + std::size_t(pe.rank())));
      of_device.write(data);
      pageable.write(data);
      for (std::size_t i = 0; i < kStreams; ++i) {
        std::byte* const source = (i % 2 ? pageable.data() : of_device.data()) + i * kBytes;
        chimex_putmem_signal_nbi_on_stream(target + i * kBytes, source, kBytes, arrived + i, 1,
                                           CHIME_SIGNAL_ADD, pe.next(), streams[i]);
        chimex_signal_wait_until_on_stream(arrived + i, CHIME_CMP_EQ, round, streams[i]);
        chimex_quiet_on_stream(streams[i]);
        chimex_getmem_on_stream(back + i * kBytes, target + i * kBytes, kBytes, pe.rank(),
                                streams[i]);
      }
      for (const OwnStream& stream : streams) stream.synchronize();
      for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = std::byte(static_cast<unsigned char>(i / 7 + round + std::size_t(pe.previous())));
      EXPECT_EQ(data, back.read());
      pe.barrier();
    }
  });
}

}  // namespace
}  // namespace chime::tests
