// The C names of data movement, row by row of the type tables: a kernel (thread, warp, block) and
// the host call each name once, and it moves the right elements. put_test.cu and its neighbours
// test the operations in detail, on the templates.
#include "support/image.hpp"
#include "support/schedule.hpp"
#include "support/typed.hpp"
#include "support/world.hpp"

namespace chime::tests {
namespace {

// A row of names: static functions with the spec's arguments. QUALIFIER: for calls from kernels or
// from the host.
#define CHIME_TESTS_NAMES(NAME, TYPE, PREFIX, SUFFIX, GROUP, QUALIFIER)                           \
  struct Names_##NAME##SUFFIX {                                                                   \
    using T = TYPE;                                                                               \
    using Group = GROUP;                                                                          \
    [[maybe_unused]] static constexpr const char* kName = #NAME #SUFFIX;                          \
    QUALIFIER static void put(T* d, const T* s, size_t n, int pe) {                               \
      PREFIX##NAME##_put##SUFFIX(d, s, n, pe);                                                    \
    }                                                                                             \
    QUALIFIER static void put_nbi(T* d, const T* s, size_t n, int pe) {                           \
      PREFIX##NAME##_put_nbi##SUFFIX(d, s, n, pe);                                                \
    }                                                                                             \
    QUALIFIER static void iput(T* d, const T* s, ptrdiff_t ds, ptrdiff_t ss, size_t n, int pe) {  \
      PREFIX##NAME##_iput##SUFFIX(d, s, ds, ss, n, pe);                                           \
    }                                                                                             \
    QUALIFIER static void put_signal(T* d, const T* s, size_t n, uint64_t* sig, int op, int pe) { \
      PREFIX##NAME##_put_signal##SUFFIX(d, s, n, sig, 3, op, pe);                                 \
    }                                                                                             \
    QUALIFIER static void put_signal_nbi(T* d, const T* s, size_t n, uint64_t* sig, int op,       \
                                         int pe) {                                                \
      PREFIX##NAME##_put_signal_nbi##SUFFIX(d, s, n, sig, 3, op, pe);                             \
    }                                                                                             \
    QUALIFIER static void get(T* d, const T* s, size_t n, int pe) {                               \
      PREFIX##NAME##_get##SUFFIX(d, s, n, pe);                                                    \
    }                                                                                             \
    QUALIFIER static void get_nbi(T* d, const T* s, size_t n, int pe) {                           \
      PREFIX##NAME##_get_nbi##SUFFIX(d, s, n, pe);                                                \
    }                                                                                             \
    QUALIFIER static void iget(T* d, const T* s, ptrdiff_t ds, ptrdiff_t ss, size_t n, int pe) {  \
      PREFIX##NAME##_iget##SUFFIX(d, s, ds, ss, n, pe);                                           \
    }                                                                                             \
  };
CHIME_FOR_RMA_TYPES(CHIME_TESTS_NAMES, chime_, , Thread, CHIME_HOST_DEVICE)
CHIME_FOR_RMA_TYPES(CHIME_TESTS_NAMES, chimex_, _warp, Warp, CHIME_DEVICE)
CHIME_FOR_RMA_TYPES(CHIME_TESTS_NAMES, chimex_, _block, Block, CHIME_DEVICE)
#undef CHIME_TESTS_NAMES

// The same for names by size. `T` has the size; the functions take void pointers.
template <std::size_t kBytes>
struct alignas(kBytes) Sized {
  unsigned char bytes[kBytes];
};
#define CHIME_TESTS_SIZED_NAMES(BITS, BYTES, PREFIX, SUFFIX, GROUP, QUALIFIER)                    \
  struct Names_##BITS##SUFFIX {                                                                   \
    using T = Sized<BYTES>;                                                                       \
    using Group = GROUP;                                                                          \
    [[maybe_unused]] static constexpr const char* kName = #BITS #SUFFIX;                          \
    QUALIFIER static void put(T* d, const T* s, size_t n, int pe) {                               \
      PREFIX##put##BITS##SUFFIX(d, s, n, pe);                                                     \
    }                                                                                             \
    QUALIFIER static void put_nbi(T* d, const T* s, size_t n, int pe) {                           \
      PREFIX##put##BITS##_nbi##SUFFIX(d, s, n, pe);                                               \
    }                                                                                             \
    QUALIFIER static void iput(T* d, const T* s, ptrdiff_t ds, ptrdiff_t ss, size_t n, int pe) {  \
      PREFIX##iput##BITS##SUFFIX(d, s, ds, ss, n, pe);                                            \
    }                                                                                             \
    QUALIFIER static void put_signal(T* d, const T* s, size_t n, uint64_t* sig, int op, int pe) { \
      PREFIX##put##BITS##_signal##SUFFIX(d, s, n, sig, 3, op, pe);                                \
    }                                                                                             \
    QUALIFIER static void put_signal_nbi(T* d, const T* s, size_t n, uint64_t* sig, int op,       \
                                         int pe) {                                                \
      PREFIX##put##BITS##_signal_nbi##SUFFIX(d, s, n, sig, 3, op, pe);                            \
    }                                                                                             \
    QUALIFIER static void get(T* d, const T* s, size_t n, int pe) {                               \
      PREFIX##get##BITS##SUFFIX(d, s, n, pe);                                                     \
    }                                                                                             \
    QUALIFIER static void get_nbi(T* d, const T* s, size_t n, int pe) {                           \
      PREFIX##get##BITS##_nbi##SUFFIX(d, s, n, pe);                                               \
    }                                                                                             \
    QUALIFIER static void iget(T* d, const T* s, ptrdiff_t ds, ptrdiff_t ss, size_t n, int pe) {  \
      PREFIX##iget##BITS##SUFFIX(d, s, ds, ss, n, pe);                                            \
    }                                                                                             \
  };
CHIME_FOR_RMA_SIZES(CHIME_TESTS_SIZED_NAMES, chime_, , Thread, CHIME_HOST_DEVICE)
CHIME_FOR_RMA_SIZES(CHIME_TESTS_SIZED_NAMES, chimex_, _warp, Warp, CHIME_DEVICE)
CHIME_FOR_RMA_SIZES(CHIME_TESTS_SIZED_NAMES, chimex_, _block, Block, CHIME_DEVICE)
#undef CHIME_TESTS_SIZED_NAMES

// Every name has a slot of kSlot elements in source and target, in this order.
enum Slot { kPut, kPutNbi, kIput, kPutSignalSet, kPutSignalAdd, kPutSignalNbi, kPutSlots };
enum { kGet, kGetNbi, kIget, kGetSlots };
constexpr std::size_t kSlot = 40, kCount = 13, kDstStride = 3, kSrcStride = 2;

template <class Names, class T>
CHIME_HOST_DEVICE void call_put_names(T* target, const T* source, std::uint64_t* signals, int pe) {
  const auto d = [&](int slot) { return target + slot * kSlot; };
  const auto s = [&](int slot) { return source + slot * kSlot; };
  Names::put(d(kPut), s(kPut), kCount, pe);
  Names::put_nbi(d(kPutNbi), s(kPutNbi), kCount, pe);
  Names::iput(d(kIput), s(kIput), kDstStride, kSrcStride, kCount, pe);
  Names::put_signal(d(kPutSignalSet), s(kPutSignalSet), kCount, signals, CHIME_SIGNAL_SET, pe);
  Names::put_signal(d(kPutSignalAdd), s(kPutSignalAdd), kCount, signals + 1, CHIME_SIGNAL_ADD, pe);
  Names::put_signal_nbi(d(kPutSignalNbi), s(kPutSignalNbi), kCount, signals + 2, CHIME_SIGNAL_ADD,
                        pe);
}

template <class Names, class T>
CHIME_HOST_DEVICE void call_get_names(T* target, const T* source, int pe) {
  const auto d = [&](int slot) { return target + slot * kSlot; };
  const auto s = [&](int slot) { return source + slot * kSlot; };
  Names::get(d(kGet), s(kGet), kCount, pe);
  Names::get_nbi(d(kGetNbi), s(kGetNbi), kCount, pe);
  Names::iget(d(kIget), s(kIget), kDstStride, kSrcStride, kCount, pe);
  chime_quiet();
}

// Calls the names from one group of their kind.
template <class Names>
CHIME_KERNEL void put_names(typename Names::T* target, const typename Names::T* source,
                            std::uint64_t* signals, int pe) {
  if (Crowd<typename Names::Group>::index() == 0)
    call_put_names<Names>(target, source, signals, pe);
}
template <class Names>
CHIME_KERNEL void get_names(typename Names::T* target, const typename Names::T* source, int pe) {
  if (Crowd<typename Names::Group>::index() == 0) call_get_names<Names>(target, source, pe);
}

std::vector<std::byte> source_of(std::size_t bytes, int pe) {
  std::vector<std::byte> image(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    image[i] = std::byte(static_cast<unsigned char>((i * 0x9E3779B1u) >> 11) ^ unsigned(pe * 31));
  return image;
}

// The contents that `slots` slots must have after the names' calls; slot `strided` is strided.
std::vector<std::byte> target_of(std::size_t element, int slots, int strided, int pe) {
  const std::size_t bytes = std::size_t(slots) * kSlot * element;
  const std::vector<std::byte> source = source_of(bytes, pe);
  std::vector<std::byte> image(bytes, kGuard);
  for (int slot = 0; slot < slots; ++slot) {
    const std::size_t to = slot == strided ? kDstStride : 1,
                      from = slot == strided ? kSrcStride : 1;
    const std::size_t start = std::size_t(slot) * kSlot;
    for (std::size_t i = 0; i < kCount; ++i)
      std::copy_n(source.begin() + std::ptrdiff_t((start + i * from) * element), element,
                  image.begin() + std::ptrdiff_t((start + i * to) * element));
  }
  return image;
}

template <class T>
T* typed(std::byte* region) {
  return reinterpret_cast<T*>(region);
}

// `call(target, source, signals)` makes the puts of PE p into PE p + 1.
template <class T, class Call>
void expect_puts(Pe& pe, Call call) {
  const std::size_t bytes = kPutSlots * kSlot * sizeof(T);
  Symmetric<std::byte> target(bytes);
  Symmetric<std::uint64_t> signals(3);
  const Private<std::byte> source(source_of(bytes, pe.rank()));
  target.fill(int(kGuard));
  signals.write(std::vector<std::uint64_t>{10, 10, 10});
  pe.barrier();
  call(typed<T>(target), static_cast<const T*>(typed<T>(source)), signals.data());
  pe.barrier();
  EXPECT_EQ(target_of(sizeof(T), kPutSlots, kIput, pe.previous()), target.read());
  EXPECT_EQ((std::vector<std::uint64_t>{3, 13, 13}), signals.read());
  pe.barrier();
}

template <class T, class Call>
void expect_gets(Pe& pe, Call call) {
  const std::size_t bytes = kGetSlots * kSlot * sizeof(T);
  Symmetric<std::byte> source(bytes);
  Private<std::byte> target(std::vector<std::byte>(bytes, kGuard));
  source.write(source_of(bytes, pe.rank()));
  pe.barrier();
  call(typed<T>(target), static_cast<const T*>(typed<T>(source)));
  EXPECT_EQ(target_of(sizeof(T), kGetSlots, kIget, pe.next()), target.read());
  pe.barrier();
}

template <class Names>
void expect_kernel_names(Pe& pe) {
  using T = typename Names::T;
  using Group = typename Names::Group;
  SCOPED_TRACE(Names::kName);
  expect_puts<T>(pe, [&](T* target, const T* source, std::uint64_t* signals) {
    pe.run(Crowd<Group>::kBlocks, Crowd<Group>::kThreads, put_names<Names>, target, source, signals,
           pe.next());
  });
  expect_gets<T>(pe, [&](T* target, const T* source) {
    pe.run(Crowd<Group>::kBlocks, Crowd<Group>::kThreads, get_names<Names>, target, source,
           pe.next());
  });
}

template <class Names>
void expect_host_names(Pe& pe) {
  using T = typename Names::T;
  SCOPED_TRACE(Names::kName);
  expect_puts<T>(pe, [&](T* target, const T* source, std::uint64_t* signals) {
    call_put_names<Names>(target, source, signals, pe.next());
  });
  expect_gets<T>(
      pe, [&](T* target, const T* source) { call_get_names<Names>(target, source, pe.next()); });
}

#define CHIME_TESTS_KERNEL(NAME, TYPE)          \
  expect_kernel_names<Names_##NAME>(pe);        \
  expect_kernel_names<Names_##NAME##_warp>(pe); \
  expect_kernel_names<Names_##NAME##_block>(pe);
#define CHIME_TESTS_KERNEL_OF_TYPE(NAME, TYPE) \
  CHIME_TEST_IF_NAMED(TYPE, CHIME_TESTS_KERNEL(NAME, TYPE))
#define CHIME_TESTS_HOST(NAME, TYPE) expect_host_names<Names_##NAME>(pe);

IN_EVERY_WORLD(CNames, OfEveryTypeMoveDataInKernels) {
  world.spawn(1, [](auto& pe) { CHIME_FOR_RMA_TYPES(CHIME_TESTS_KERNEL_OF_TYPE) });
}

IN_EVERY_WORLD(CNames, OfEverySizeMoveDataInKernels) {
  world.spawn(1, [](Pe& pe) { CHIME_FOR_RMA_SIZES(CHIME_TESTS_KERNEL) });
}

IN_EVERY_WORLD(CNames, OfEveryTypeMoveDataFromTheHost) {
  world.spawn(1, [](Pe& pe) { CHIME_FOR_RMA_TYPES(CHIME_TESTS_HOST) });
}

IN_EVERY_WORLD(CNames, OfEverySizeMoveDataFromTheHost) {
  world.spawn(1, [](Pe& pe) { CHIME_FOR_RMA_SIZES(CHIME_TESTS_HOST) });
}

#undef CHIME_TESTS_KERNEL_OF_TYPE
#undef CHIME_TESTS_KERNEL
#undef CHIME_TESTS_HOST

// ---- p and g, by value --------------------------------------------------------------------------

#define CHIME_TESTS_ELEMENT(NAME, TYPE)                                                  \
  struct Element_##NAME {                                                                \
    using T = TYPE;                                                                      \
    [[maybe_unused]] static constexpr const char* kName = #NAME;                         \
    CHIME_HOST_DEVICE static void p(T* d, T v, int pe) { chime_##NAME##_p(d, v, pe); }   \
    CHIME_HOST_DEVICE static T g(const T* s, int pe) { return chime_##NAME##_g(s, pe); } \
  };
CHIME_FOR_RMA_TYPES(CHIME_TESTS_ELEMENT)
#undef CHIME_TESTS_ELEMENT

// Reads the value at words[0] of `pe` and writes it to words[2] there.
template <class Names>
CHIME_KERNEL void echo_element(typename Names::T* words, int pe) {
  Names::p(words + 2, Names::g(words, pe), pe);
}

template <class Names>
void expect_elements(Pe& pe) {
  using T = typename Names::T;
  SCOPED_TRACE(Names::kName);
  Symmetric<std::byte> words(5 * sizeof(T));
  const std::vector<std::byte> source = source_of(5 * sizeof(T), pe.rank());
  words.write(source);
  pe.barrier();
  pe.run(1, 1, echo_element<Names>, typed<T>(words), pe.next());
  Names::p(typed<T>(words) + 4, Names::g(typed<T>(words), pe.next()), pe.next());
  pe.barrier();
  std::vector<std::byte> expected = source;
  for (std::size_t slot : {2, 4})
    std::copy_n(source.begin(), sizeof(T), expected.begin() + std::ptrdiff_t(slot * sizeof(T)));
  EXPECT_EQ(expected, words.read());
  pe.barrier();
}

#define CHIME_TESTS_ELEMENT(NAME, TYPE) \
  CHIME_TEST_IF_NAMED(TYPE, expect_elements<Element_##NAME>(pe);)
IN_EVERY_WORLD(CNames, OfElementsMoveValues) {
  world.spawn(1, [](auto& pe) { CHIME_FOR_RMA_TYPES(CHIME_TESTS_ELEMENT) });
}
#undef CHIME_TESTS_ELEMENT

// ---- mem: bytes at any address ------------------------------------------------------------------

IN_EVERY_WORLD(CNames, OfMemMoveBytesFromTheHost) {
  world.spawn(1, [](Pe& pe) {
    const Picture picture(shapes(), 1);
    Symmetric<std::byte> target(picture.bytes()), source(picture.bytes());
    Private<std::byte> back(picture.bytes());
    target.fill(int(kGuard));
    back.write(std::vector<std::byte>(picture.bytes(), kGuard));
    source.write(picture.source(pe.rank()));
    pe.barrier();
    int i = 0;
    for (const Piece& piece : picture.pieces()) {
      auto* const put = i++ % 2 ? chime_putmem : chime_putmem_nbi;
      auto* const get = i % 3 ? chime_getmem : chime_getmem_nbi;
      put(target + piece.target, source + piece.source, piece.count, pe.next());
      get(back + piece.target, source + piece.source, piece.count, pe.next());
    }
    chime_quiet();
    pe.barrier();
    EXPECT_TRUE(picture.same(picture.target(pe.previous()), target.read()));
    EXPECT_TRUE(picture.same(picture.target(pe.next()), back.read()));
    pe.barrier();
  });
}

template <class Group>
struct MemNames;
template <>
struct MemNames<Thread> {
  CHIME_DEVICE static void put(void* d, const void* s, size_t n, int pe) {
    chime_putmem(d, s, n, pe);
  }
  CHIME_DEVICE static void get(void* d, const void* s, size_t n, int pe) {
    chime_getmem(d, s, n, pe);
  }
};
template <>
struct MemNames<Warp> {
  CHIME_DEVICE static void put(void* d, const void* s, size_t n, int pe) {
    chimex_putmem_nbi_warp(d, s, n, pe);
  }
  CHIME_DEVICE static void get(void* d, const void* s, size_t n, int pe) {
    chimex_getmem_warp(d, s, n, pe);
  }
};
template <>
struct MemNames<Block> {
  CHIME_DEVICE static void put(void* d, const void* s, size_t n, int pe) {
    chimex_putmem_block(d, s, n, pe);
  }
  CHIME_DEVICE static void get(void* d, const void* s, size_t n, int pe) {
    chimex_getmem_nbi_block(d, s, n, pe);
  }
};

template <class Group>
CHIME_KERNEL void move_mem(std::byte* target, const std::byte* source, std::byte* back,
                           const Piece* pieces, unsigned count, int pe) {
  for (unsigned i = Crowd<Group>::index(); i < count; i += Crowd<Group>::kGroups) {
    MemNames<Group>::put(target + pieces[i].target, source + pieces[i].source, pieces[i].count, pe);
    MemNames<Group>::get(back + pieces[i].target, source + pieces[i].source, pieces[i].count, pe);
  }
  chime_quiet();
}

IN_EVERY_WORLD(CNames, OfMemMoveBytesInKernels) {
  world.spawn(1, [](Pe& pe) {
    for_each_group([&]<class Group>(GroupTag<Group>) {
      const Picture picture(shapes(), 1);
      Symmetric<std::byte> target(picture.bytes()), source(picture.bytes());
      Private<std::byte> back(std::vector<std::byte>(picture.bytes(), kGuard));
      const Private<Piece> pieces(picture.pieces());
      target.fill(int(kGuard));
      source.write(picture.source(pe.rank()));
      pe.barrier();
      pe.run(Crowd<Group>::kBlocks, Crowd<Group>::kThreads, move_mem<Group>, target.data(),
             static_cast<const std::byte*>(source.data()), back.data(),
             static_cast<const Piece*>(pieces.data()), unsigned(picture.pieces().size()),
             pe.next());
      pe.barrier();
      EXPECT_TRUE(picture.same(picture.target(pe.previous()), target.read()));
      EXPECT_TRUE(picture.same(picture.target(pe.next()), back.read()));
      pe.barrier();
    });
  });
}

// ---- On-stream names ----------------------------------------------------------------------------

// A struct of names like those above, on the default stream. FIRST_SECOND is the name.
#define CHIME_TESTS_STREAM_NAMES(STRUCT, T_, PUT, GET, IPUT, IGET)                                 \
  struct STRUCT {                                                                                  \
    using T = T_;                                                                                  \
    static void put(T* d, const T* s, size_t n, int pe) { PUT##_on_stream(d, s, n, pe, nullptr); } \
    static void put_nbi(T* d, const T* s, size_t n, int pe) {                                      \
      PUT##_nbi_on_stream(d, s, n, pe, nullptr);                                                   \
    }                                                                                              \
    static void iput(T* d, const T* s, ptrdiff_t ds, ptrdiff_t ss, size_t n, int pe) {             \
      IPUT##_on_stream(d, s, ds, ss, n, pe, nullptr);                                              \
    }                                                                                              \
    static void put_signal(T* d, const T* s, size_t n, std::uint64_t* sig, int op, int pe) {       \
      PUT##_signal_on_stream(d, s, n, sig, 3, op, pe, nullptr);                                    \
    }                                                                                              \
    static void put_signal_nbi(T* d, const T* s, size_t n, std::uint64_t* sig, int op, int pe) {   \
      PUT##_signal_nbi_on_stream(d, s, n, sig, 3, op, pe, nullptr);                                \
    }                                                                                              \
    static void get(T* d, const T* s, size_t n, int pe) { GET##_on_stream(d, s, n, pe, nullptr); } \
    static void get_nbi(T* d, const T* s, size_t n, int pe) {                                      \
      GET##_nbi_on_stream(d, s, n, pe, nullptr);                                                   \
    }                                                                                              \
    static void iget(T* d, const T* s, ptrdiff_t ds, ptrdiff_t ss, size_t n, int pe) {             \
      IGET##_on_stream(d, s, ds, ss, n, pe, nullptr);                                              \
    }                                                                                              \
  };
#define CHIME_TESTS_STREAM_TYPE(NAME, TYPE)                                               \
  CHIME_TESTS_STREAM_NAMES(Stream_##NAME, TYPE, chimex_##NAME##_put, chimex_##NAME##_get, \
                           chimex_##NAME##_iput, chimex_##NAME##_iget)
#define CHIME_TESTS_STREAM_SIZE(BITS, BYTES)                                                       \
  CHIME_TESTS_STREAM_NAMES(Stream_##BITS, detail::Word<BYTES>, chimex_put##BITS, chimex_get##BITS, \
                           chimex_iput##BITS, chimex_iget##BITS)
CHIME_FOR_RMA_TYPES(CHIME_TESTS_STREAM_TYPE)
CHIME_FOR_RMA_SIZES(CHIME_TESTS_STREAM_SIZE)
#undef CHIME_TESTS_STREAM_SIZE
#undef CHIME_TESTS_STREAM_TYPE
#undef CHIME_TESTS_STREAM_NAMES

template <class Names>
void expect_stream_names(Pe& pe, const char* name) {
  using T = typename Names::T;
  SCOPED_TRACE(name);
  expect_puts<T>(pe, [&](T* target, const T* source, std::uint64_t* signals) {
    call_put_names<Names>(target, source, signals, pe.next());
    chimex_quiet_on_stream(nullptr);
    exec::stream_synchronize({});
  });
  expect_gets<T>(pe, [&](T* target, const T* source) {
    call_get_names<Names>(target, source, pe.next());
    exec::stream_synchronize({});
  });
}
#define CHIME_TESTS_STREAM(NAME, TYPE) expect_stream_names<Stream_##NAME>(pe, #NAME "_on_stream");

IN_EVERY_WORLD(CNames, OnAStreamMoveDataOfEveryType) {
  world.spawn(1, [](Pe& pe) { CHIME_FOR_RMA_TYPES(CHIME_TESTS_STREAM) });
}

IN_EVERY_WORLD(CNames, OnAStreamMoveDataOfEverySize) {
  world.spawn(1, [](Pe& pe) { CHIME_FOR_RMA_SIZES(CHIME_TESTS_STREAM) });
}
#undef CHIME_TESTS_STREAM

// Reads the value at words[0] of the next PE and writes it to words[2] there.
#define CHIME_TESTS_STREAM_ELEMENT(NAME, TYPE)                                        \
  [&] {                                                                               \
    SCOPED_TRACE(#NAME "_on_stream");                                                 \
    Symmetric<std::byte> words(3 * sizeof(TYPE));                                     \
    std::vector<std::byte> expected = source_of(3 * sizeof(TYPE), pe.rank());         \
    words.write(expected);                                                            \
    pe.barrier();                                                                     \
    TYPE* const word = typed<TYPE>(words);                                            \
    const TYPE first = chimex_##NAME##_g_on_stream(word, pe.next(), nullptr);         \
    chimex_##NAME##_p_on_stream(word + 2, first, pe.next(), nullptr);                 \
    chimex_barrier_all_on_stream(nullptr);                                            \
    exec::stream_synchronize({});                                                     \
    std::copy_n(expected.begin(), sizeof(TYPE), expected.begin() + 2 * sizeof(TYPE)); \
    EXPECT_EQ(expected, words.read());                                                \
    pe.barrier();                                                                     \
  }();

IN_EVERY_WORLD(CNames, OnAStreamMoveElementsOfEveryType) {
  world.spawn(1, [](Pe& pe) { CHIME_FOR_RMA_TYPES(CHIME_TESTS_STREAM_ELEMENT) });
}
#undef CHIME_TESTS_STREAM_ELEMENT

IN_EVERY_WORLD(CNames, OfMemGetOnAStream) {
  world.spawn(1, [](Pe& pe) {
    expect_gets<char>(pe, [&](char* target, const char* source) {
      chimex_getmem_nbi_on_stream(target + kGet * kSlot, source + kGet * kSlot, kCount, pe.next(),
                                  nullptr);
      chimex_char_get_nbi_on_stream(target + kGetNbi * kSlot, source + kGetNbi * kSlot, kCount,
                                    pe.next(), nullptr);
      chimex_char_iget_on_stream(target + kIget * kSlot, source + kIget * kSlot, kDstStride,
                                 kSrcStride, kCount, pe.next(), nullptr);
      chimex_quiet_on_stream(nullptr);
      exec::stream_synchronize({});
    });
  });
}

}  // namespace
}  // namespace chime::tests
