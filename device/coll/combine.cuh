// How values of members become one: the operations of reductions, and the order in which a team's
// values are combined.
//
// The order depends on the number of values alone: neighbours in pairs, then pairs of pairs, as a
// tree; so a result is the same to the bit by every path and algorithm.
#ifndef CHIME_DEVICE_COLL_COMBINE_CUH_
#define CHIME_DEVICE_COLL_COMBINE_CUH_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "chime/device/copy.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/host_ops.h"

namespace chime {

namespace detail {

// What sums and products of a type are computed in: integers wrap, as those without a sign do, and
// 16-bit floating point is rounded at the end alone.
template <class T>
CHIME_DEVICE constexpr auto widened(T value) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<std::common_type_t<Unsigned, unsigned>>(value);
  } else if constexpr (sizeof(T) == 2) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}
template <class T>
using Widened = decltype(widened(T{}));

template <class T>
CHIME_DEVICE constexpr bool is_nan(T value) {
  if constexpr (std::is_integral_v<T>) return false;
  return value != value;
}

}  // namespace detail

// An operation: `In<T>` is the type in which values of type T are combined, kNumber that of
// chime/host_ops.h.
struct Sum {
  static constexpr int kNumber = CHIME_REDUCE_SUM;
  template <class T>
  using In = detail::Widened<T>;
  template <class A>
  CHIME_DEVICE static A apply(A a, A b) {
    return a + b;
  }
};
struct Product {
  static constexpr int kNumber = CHIME_REDUCE_PROD;
  template <class T>
  using In = detail::Widened<T>;
  template <class A>
  CHIME_DEVICE static A apply(A a, A b) {
    return a * b;
  }
};

// NaN if one of the values is.
template <class T>
using Compared = std::conditional_t<std::is_integral_v<T>, T, detail::Widened<T>>;
struct Min {
  static constexpr int kNumber = CHIME_REDUCE_MIN;
  template <class T>
  using In = Compared<T>;
  template <class A>
  CHIME_DEVICE static A apply(A a, A b) {
    return detail::is_nan(a) || a < b ? a : b;
  }
};
struct Max {
  static constexpr int kNumber = CHIME_REDUCE_MAX;
  template <class T>
  using In = Compared<T>;
  template <class A>
  CHIME_DEVICE static A apply(A a, A b) {
    return detail::is_nan(a) || a > b ? a : b;
  }
};

// For pairs {value, location}. The pair with the larger value wins, and the first one of equal
// values. A NaN is larger than any number.
struct MaxLocation {
  static constexpr int kNumber = CHIME_REDUCE_MAXLOC;
  template <class T>
  using In = T;
  template <class A>
  CHIME_DEVICE static A apply(A a, A b) {
    return detail::is_nan(a.x) || a.x >= b.x ? a : b;
  }
};

// For integers alone.
struct And {
  static constexpr int kNumber = CHIME_REDUCE_AND;
  template <class T>
  using In = T;
  template <class A>
  CHIME_DEVICE static A apply(A a, A b) {
    return static_cast<A>(a & b);
  }
};
struct Or {
  static constexpr int kNumber = CHIME_REDUCE_OR;
  template <class T>
  using In = T;
  template <class A>
  CHIME_DEVICE static A apply(A a, A b) {
    return static_cast<A>(a | b);
  }
};
struct Xor {
  static constexpr int kNumber = CHIME_REDUCE_XOR;
  template <class T>
  using In = T;
  template <class A>
  CHIME_DEVICE static A apply(A a, A b) {
    return static_cast<A>(a ^ b);
  }
};

namespace detail {

// Trees of up to 2^kLevels values; of more than that, such trees are combined one after another.
inline constexpr int kLevels = 10;

// Partial results: level L has that of the last 2^L values that were not yet combined further, as
// bit L of their number says. Indexed by constants alone, so that they are registers.
template <class Op, class A>
class Tree {
 public:
  CHIME_DEVICE void add(A value) { carry<0>(value); }

  // A{} if no value was added.
  CHIME_DEVICE A result() const { return rest<0>(false, A{}); }

 private:
  template <int kLevel>
  CHIME_DEVICE void carry(A value) {
    if constexpr (kLevel == kLevels) {
      partial_[kLevel] = (count_ >> kLevel) == 0 ? value : Op::apply(partial_[kLevel], value);
      count_ = ((count_ >> kLevel) + 1) << kLevel;
    } else if ((count_ >> kLevel & 1) != 0) {
      carry<kLevel + 1>(Op::apply(partial_[kLevel], value));
    } else {
      partial_[kLevel] = value;
      count_ = ((count_ >> kLevel) | 1) << kLevel;
    }
  }
  template <int kLevel>
  CHIME_DEVICE A rest(bool has_value, A value) const {
    const bool has_partial =
        kLevel == kLevels ? (count_ >> kLevel) != 0 : (count_ >> kLevel & 1) != 0;
    if (has_partial) value = has_value ? Op::apply(partial_[kLevel], value) : partial_[kLevel];
    if constexpr (kLevel == kLevels) {
      return value;
    } else {
      return rest<kLevel + 1>(has_value || has_partial, value);
    }
  }

  unsigned count_ = 0;
  A partial_[kLevels + 1] = {};
};

// The members' elements: this PE's at `own`, those of member r at places[r] + begin, or at
// others + r * stride. Dense ones leave no place for this PE's.
struct Shares {
  const std::byte* own;
  const std::byte* others;
  std::size_t stride;
  unsigned me, members;
  const std::byte* const* places = nullptr;
  std::size_t begin = 0;
  bool is_dense = false;

  CHIME_DEVICE const std::byte* of(unsigned rank) const {
    if (rank == me) return own;
    if (places != nullptr) return places[rank] + begin;
    return others + (is_dense ? dense_place(rank, me) : rank) * stride;
  }

  // The place of another member's elements.
  CHIME_DEVICE static unsigned dense_place(unsigned rank, unsigned me) {
    return rank < me ? rank : rank - 1;
  }
};

template <class Op, class T>
CHIME_DEVICE T combined(T a, T b) {
  using A = typename Op::template In<T>;
  return static_cast<T>(Op::apply(static_cast<A>(a), static_cast<A>(b)));
}

// Elements that one instruction loads.
template <class T>
struct alignas(kWidest) Pack {
  static constexpr std::size_t kElements = kWidest / sizeof(T);
  T elements[kElements];
};

// As many of two members' elements as make whole packs. Returns how many: none where an array is
// not aligned to packs. `dst` may be one of the others, for all that compilers know, so they make
// no vectors of a loop over elements.
template <class Op, class T, class Group>
CHIME_DEVICE std::size_t combine_two_packs(Group g, T* dst, const T* first, const T* second,
                                           std::size_t count) {
  const auto address = [](auto* element) { return reinterpret_cast<std::uintptr_t>(element); };
  if ((address(dst) | address(first) | address(second)) % kWidest != 0) return 0;
  const std::size_t packs = count / Pack<T>::kElements;
  for (std::size_t i = g.rank(); i < packs; i += g.size()) {
    Pack<T> a = reinterpret_cast<const Pack<T>*>(first)[i];
    const Pack<T> b = reinterpret_cast<const Pack<T>*>(second)[i];
    for (std::size_t k = 0; k < Pack<T>::kElements; ++k)
      a.elements[k] = combined<Op>(a.elements[k], b.elements[k]);
    reinterpret_cast<Pack<T>*>(dst)[i] = a;
  }
  return packs * Pack<T>::kElements;
}
template <class Op, class T, class Group>
CHIME_DEVICE void combine_two(Group g, T* dst, const T* first, const T* second, std::size_t count) {
  const std::size_t done = combine_two_packs<Op>(g, dst, first, second, count);
  for (std::size_t i = done + g.rank(); i < count; i += g.size())
    dst[i] = combined<Op>(first[i], second[i]);
}

// dst[i] = the members' elements i, for i from 0 to count - 1. By all members of the group. Out of
// line: where it is called from several places, there is one copy.
template <class Op, class T, class Group>
CHIME_DEVICE_OUT_OF_LINE void combine_elements(Group g, T* dst, std::size_t count, Shares shares) {
  using A = typename Op::template In<T>;
  const auto all_of = [&](unsigned rank) { return reinterpret_cast<const T*>(shares.of(rank)); };
  if (shares.members == 2) return combine_two<Op>(g, dst, all_of(0), all_of(1), count);
  for (std::size_t i = g.rank(); i < count; i += g.size()) {
    Tree<Op, A> tree;
    for (unsigned rank = 0; rank < shares.members; ++rank)
      tree.add(static_cast<A>(all_of(rank)[i]));
    dst[i] = static_cast<T>(tree.result());
  }
}

// Apart from device code, where nvcc warns of the type's name.
template <class T>
inline constexpr bool kIsLongDouble = std::is_same_v<T, long double>;

// Which elements a type is: CHIME_ELEMENT_* (chime/host_ops.h).
template <class T>
CHIME_DEVICE constexpr int element_of() {
  if constexpr (requires { T::kElement; }) return T::kElement;  // the library's own types
  if (std::is_integral_v<T>) return std::is_signed_v<T> ? CHIME_ELEMENT_INT : CHIME_ELEMENT_UINT;
  if (std::is_same_v<T, exec::bfloat16>) return CHIME_ELEMENT_BFLOAT16;
  static_assert(exec::kHasLongDouble || !kIsLongDouble<T>,
                "kernels of a GPU have no long double: call the host's collectives");
  if (kIsLongDouble<T>) return CHIME_ELEMENT_LONG_DOUBLE;
  return std::is_same_v<T, chimex_double2_t> ? CHIME_ELEMENT_DOUBLE2 : CHIME_ELEMENT_FLOAT;
}
CHIME_DEVICE constexpr unsigned number_of_combine(int op, int element, std::size_t bytes) {
  return static_cast<unsigned>(op) << 16 | static_cast<unsigned>(element) << 8 |
         static_cast<unsigned>(bytes);
}

// Whether a value that was combined of some may be stored as an element, and combined with others
// later: sums and products of 16-bit floating point are rounded only once.
CHIME_DEVICE constexpr bool keeps_partial_values(unsigned number) {
  const int op = static_cast<int>(number >> 16), element = static_cast<int>(number >> 8 & 0xff);
  const bool is_rounded = op == CHIME_REDUCE_SUM || op == CHIME_REDUCE_PROD;
  const bool is_floating = element == CHIME_ELEMENT_FLOAT || element == CHIME_ELEMENT_BFLOAT16;
  return !(is_rounded && is_floating && (number & 0xff) == 2);
}

// Elements of a type by an operation.
template <class Op, class T>
struct CombineBy {
  CHIME_DEVICE static constexpr std::size_t bytes() { return sizeof(T); }
  CHIME_DEVICE static constexpr unsigned number() {
    return number_of_combine(Op::kNumber, element_of<T>(), sizeof(T));
  }

  template <class Group>
  CHIME_DEVICE void operator()(Group g, std::byte* dst, std::size_t bytes,
                               const Shares& shares) const {
    combine_elements<Op>(g, reinterpret_cast<T*>(dst), bytes / sizeof(T), shares);
  }
};

}  // namespace detail
}  // namespace chime

#endif  // CHIME_DEVICE_COLL_COMBINE_CUH_
