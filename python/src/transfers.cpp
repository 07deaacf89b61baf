// put, get, put_signal: of numpy-described memory, contiguous or with strides.
#include "call.hpp"

namespace chime_python {
namespace {

struct Piece {
  char *dst, *src;
  py::ssize_t dst_stride, src_stride;  // bytes
  std::size_t count, element;
};

std::string text_of(const py::handle& object) { return py::str(object).cast<std::string>(); }

void check_alike(const py::array& dst, const py::array& src) {
  if (!dst.dtype().is(src.dtype()) && !dst.dtype().equal(src.dtype()))
    raise_error(CHIMEX_ERR_INVALID, kNoPe,
                "the element types differ: the destination has " + text_of(dst.dtype()) +
                    " and the source " + text_of(src.dtype()) + "; convert one with astype()");
  bool is_alike = dst.ndim() == src.ndim();
  for (py::ssize_t i = 0; is_alike && i < dst.ndim(); ++i) is_alike = dst.shape(i) == src.shape(i);
  if (!is_alike)
    raise_error(CHIMEX_ERR_INVALID, kNoPe,
                "the shapes differ: the destination has " + text_of(dst.attr("shape")) +
                    " and the source " + text_of(src.attr("shape")) + "; slice the larger one");
  if (dst.itemsize() == 0)
    raise_error(CHIMEX_ERR_INVALID, kNoPe,
                "elements of type " + text_of(dst.dtype()) + " have no bytes");
}

bool is_contiguous(const py::array& array) { return (array.flags() & py::array::c_style) != 0; }

// Calls `move(piece)` for the longest pieces that have one stride on each side.
template <class Move>
void for_each_piece(const py::array& dst, const py::array& src, py::ssize_t axis, char* to,
                    char* from, const Move& move) {
  const auto element = static_cast<std::size_t>(dst.itemsize());
  if (axis + 1 < dst.ndim()) {
    for (py::ssize_t i = 0; i < dst.shape(axis); ++i)
      for_each_piece(dst, src, axis + 1, to + i * dst.strides(axis), from + i * src.strides(axis),
                     move);
    return;
  }
  move(Piece{to, from, dst.strides(axis), src.strides(axis),
             static_cast<std::size_t>(dst.shape(axis)), element});
}

void check_strides(const py::array& array, const char* name) {
  for (py::ssize_t i = 0; i < array.ndim(); ++i)
    if (array.shape(i) > 1 && array.strides(i) <= 0)
      raise_error(CHIMEX_ERR_INVALID, kNoPe,
                  std::string("the ") + name + " has strides " + text_of(array.attr("strides")) +
                      ": they must be positive; copy it first");
}

// The address of each element, and each stride, is a multiple of the lowest bit in these.
std::size_t bits_of_places(const py::array& array) {
  auto bits = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(array.data()));
  for (py::ssize_t i = 0; i < array.ndim(); ++i)
    if (array.shape(i) > 1) bits |= static_cast<std::size_t>(array.strides(i));
  return bits;
}

// The widest words that elements consist of and that lie aligned on both sides, in bytes: a field
// of a record need not be aligned to its type, and a type may have any number of bytes.
std::size_t word_bytes(const py::array& dst, const py::array& src) {
  constexpr std::size_t kWidest = 16;
  const std::size_t bits = bits_of_places(dst) | bits_of_places(src) | kWidest |
                           static_cast<std::size_t>(dst.itemsize());
  return bits & ~(bits - 1);
}

struct Transfer {
  bool is_put, is_nbi, is_on_stream;
  chimex_stream_t stream;
};

void move_bytes(const Transfer& how, char* dst, char* src, std::size_t bytes, int pe) {
  if (how.is_on_stream) {
    if (how.is_put)
      (how.is_nbi ? chimex_putmem_nbi_on_stream : chimex_putmem_on_stream)(dst, src, bytes, pe,
                                                                           how.stream);
    else
      (how.is_nbi ? chimex_getmem_nbi_on_stream : chimex_getmem_on_stream)(dst, src, bytes, pe,
                                                                           how.stream);
  } else if (how.is_put) {
    (how.is_nbi ? chime_host_put_nbi : chime_host_put)(dst, src, bytes, pe);
  } else {
    (how.is_nbi ? chime_host_get_nbi : chime_host_get)(dst, src, bytes, pe);
  }
}

// The words that begin `at` bytes into each element.
void move_words(const Transfer& how, const Piece& piece, std::size_t word, std::size_t at, int pe) {
  const auto bytes = static_cast<py::ssize_t>(word);
  const std::ptrdiff_t dst_stride = piece.dst_stride / bytes, src_stride = piece.src_stride / bytes;
  char *const to = piece.dst + at, *const from = piece.src + at;
  if (how.is_on_stream)
    (how.is_put ? chime_host_iput_on_stream : chime_host_iget_on_stream)(
        to, from, dst_stride, src_stride, piece.count, word, pe, how.stream);
  else
    (how.is_put ? chime_host_iput : chime_host_iget)(to, from, dst_stride, src_stride, piece.count,
                                                     word, pe);
}

void move_piece(const Transfer& how, const Piece& piece, std::size_t word, int pe) {
  const auto element = static_cast<py::ssize_t>(piece.element);
  if (piece.count == 1 || (piece.dst_stride == element && piece.src_stride == element))
    return move_bytes(how, piece.dst, piece.src, piece.count * piece.element, pe);
  for (std::size_t at = 0; at < piece.element && chimex_last_status() == CHIMEX_OK; at += word)
    move_words(how, piece, word, at, pe);
}

char* data_of(const py::array& array) {
  return const_cast<char*>(static_cast<const char*>(array.data()));
}

void move(const Transfer& how, const py::array& dst, const py::array& src, int pe) {
  require_pe();
  check_alike(dst, src);
  check_pe(pe);
  char *const to = data_of(dst), *const from = data_of(src);
  if (is_contiguous(dst) && is_contiguous(src)) {
    const auto bytes = static_cast<std::size_t>(dst.nbytes());
    run(pe, [&] { move_bytes(how, to, from, bytes, pe); });
    return;
  }
  check_strides(dst, "destination");
  check_strides(src, "source");
  const std::size_t word = word_bytes(dst, src);
  run(pe, [&] {
    for_each_piece(dst, src, 0, to, from, [&](const Piece& piece) {
      if (piece.count > 0 && chimex_last_status() == CHIMEX_OK) move_piece(how, piece, word, pe);
    });
  });
}

void put(const py::array& dst, const py::array& src, int pe, bool nbi) {
  move({true, nbi, false, nullptr}, dst, src, pe);
}
void get(const py::array& dst, const py::array& src, int pe, bool nbi) {
  move({false, nbi, false, nullptr}, dst, src, pe);
}
void put_on_stream(const py::array& dst, const py::array& src, int pe, bool nbi,
                   std::uintptr_t stream) {
  move({true, nbi, true, stream_of(stream)}, dst, src, pe);
}
void get_on_stream(const py::array& dst, const py::array& src, int pe, bool nbi,
                   std::uintptr_t stream) {
  move({false, nbi, true, stream_of(stream)}, dst, src, pe);
}

struct SignalUpdate {
  std::uint64_t* word;
  std::uint64_t value;
  int op;
};

void check_for_signal(const py::array& dst, const py::array& src, int pe) {
  require_pe();
  check_alike(dst, src);
  check_pe(pe);
  if (!is_contiguous(dst) || !is_contiguous(src))
    raise_error(CHIMEX_ERR_INVALID, pe,
                "put_signal moves contiguous arrays: for others call put, fence and signal_op");
}

void put_signal(const py::array& dst, const py::array& src, std::uintptr_t sig, std::uint64_t value,
                int op, int pe, bool nbi) {
  check_for_signal(dst, src, pe);
  const auto bytes = static_cast<std::size_t>(dst.nbytes());
  void *const to = data_of(dst), *const from = data_of(src);
  const SignalUpdate update{reinterpret_cast<std::uint64_t*>(sig), value, op};
  run(pe, [&] {
    (nbi ? chime_host_put_signal_nbi : chime_host_put_signal)(to, from, bytes, update.word,
                                                              update.value, update.op, pe);
  });
}

void put_signal_on_stream(const py::array& dst, const py::array& src, std::uintptr_t sig,
                          std::uint64_t value, int op, int pe, bool nbi, std::uintptr_t stream) {
  check_for_signal(dst, src, pe);
  const auto bytes = static_cast<std::size_t>(dst.nbytes());
  void *const to = data_of(dst), *const from = data_of(src);
  run(pe, [&] {
    (nbi ? chimex_putmem_signal_nbi_on_stream : chimex_putmem_signal_on_stream)(
        to, from, bytes, reinterpret_cast<std::uint64_t*>(sig), value, op, pe, stream_of(stream));
  });
}

}  // namespace

void bind_transfers(py::module_& module) {
  module.def("put", put);
  module.def("get", get);
  module.def("put_on_stream", put_on_stream);
  module.def("get_on_stream", get_on_stream);
  module.def("put_signal", put_signal);
  module.def("put_signal_on_stream", put_signal_on_stream);
  module.def("fence", [] { run(kNoPe, [] { chime_host_fence(); }); });
  module.def("quiet", [] { run(kNoPe, [] { chime_host_quiet(); }); });
  module.def("quiet_on_stream", [](std::uintptr_t stream) {
    run(kNoPe, [=] { chimex_quiet_on_stream(stream_of(stream)); });
  });
}

}  // namespace chime_python
