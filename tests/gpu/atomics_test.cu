// The atomics of exec on a GPU, one thread: the result and the word of each, for every type of
// word. The values reveal a wrong width, a wrong sign and swapped operands.
#include "kernel_check.cuh"

using namespace chime;
using namespace chime::tests;

template <class T>
struct Updated {
  T told, left;
};

// Each atomic has a separate word, so that no fault hides another.
template <class T>
struct Updates {
  Updated<T> add, min, max, min_of_less, bit_and, bit_or, bit_xor, exchange, cas, failed_cas;
  T red_add, red_and, red_or, red_xor;
};

template <class T, class Update>
CHIME_DEVICE void update(Updated<T>& seen, T first, Update how) {
  seen.left = first;
  seen.told = how(&seen.left);
}

// The highest bytes of a constant, as many as T has.
template <class T>
inline constexpr T kWide = static_cast<T>(0x8765432112345678u >> (64 - 8 * sizeof(T)));
template <class T>
inline constexpr T kMask = static_cast<T>(0xf0f0f0f00f0f0f0fu >> (64 - 8 * sizeof(T)));

template <class T>
CHIME_KERNEL void update_integers(Updates<T>* seen) {
  constexpr T kMinusTwo = static_cast<T>(-2);
  update<T>(seen->add, kWide<T>, [](T* p) { return exec::atomic_add(p, T{3}); });
  update<T>(seen->min, T{5}, [](T* p) { return exec::atomic_min(p, kMinusTwo); });
  update<T>(seen->max, T{5}, [](T* p) { return exec::atomic_max(p, kMinusTwo); });
  update<T>(seen->min_of_less, T{5}, [](T* p) { return exec::atomic_min(p, T{4}); });
  update<T>(seen->bit_and, kWide<T>, [](T* p) { return exec::atomic_and(p, kMask<T>); });
  update<T>(seen->bit_or, kWide<T>, [](T* p) { return exec::atomic_or(p, kMask<T>); });
  update<T>(seen->bit_xor, kWide<T>, [](T* p) { return exec::atomic_xor(p, kMask<T>); });
  update<T>(seen->exchange, kWide<T>, [](T* p) { return exec::atomic_exchange(p, kMask<T>); });
  update<T>(seen->cas, kWide<T>, [](T* p) { return exec::atomic_cas(p, kWide<T>, kMask<T>); });
  update<T>(seen->failed_cas, kMask<T>, [](T* p) { return exec::atomic_cas(p, kWide<T>, T{9}); });
  seen->red_add = seen->red_and = seen->red_or = seen->red_xor = kWide<T>;
  exec::red_add(&seen->red_add, T{3});
  exec::red_and(&seen->red_and, kMask<T>);
  exec::red_or(&seen->red_or, kMask<T>);
  exec::red_xor(&seen->red_xor, kMask<T>);
}

template <class T>
static void check_update(const Updated<T>& seen, T told, T left, const char* what) {
  if (seen.told == told && seen.left == left) return;
  std::printf("%s of %zu bytes told %llx and left %llx\n", what, sizeof(T),
              static_cast<unsigned long long>(seen.told),
              static_cast<unsigned long long>(seen.left));
  CHIME_CHECK(!"an atomic does what its name says");
}

template <class T>
static void integers_are_updated() {
  Result<Updates<T>> updates;
  CHIME_NEED(exec::launch({}, update_integers<T>, updates.device()) == CHIMEX_OK);
  const Updates<T> seen = updates.read();
  constexpr T kMinusTwo = static_cast<T>(-2);
  constexpr bool kIsLess = kMinusTwo < T{5};
  constexpr T kWidePlus3 = static_cast<T>(kWide<T> + 3);
  check_update<T>(seen.add, kWide<T>, kWidePlus3, "add");
  check_update<T>(seen.min, T{5}, kIsLess ? kMinusTwo : T{5}, "min");
  check_update<T>(seen.max, T{5}, kIsLess ? T{5} : kMinusTwo, "max");
  check_update<T>(seen.min_of_less, T{5}, T{4}, "min");
  check_update<T>(seen.bit_and, kWide<T>, kWide<T> & kMask<T>, "and");
  check_update<T>(seen.bit_or, kWide<T>, kWide<T> | kMask<T>, "or");
  check_update<T>(seen.bit_xor, kWide<T>, kWide<T> ^ kMask<T>, "xor");
  check_update<T>(seen.exchange, kWide<T>, kMask<T>, "exchange");
  check_update<T>(seen.cas, kWide<T>, kMask<T>, "cas");
  check_update<T>(seen.failed_cas, kMask<T>, kMask<T>, "a cas that fails");
  CHIME_CHECK(seen.red_add == kWidePlus3);
  CHIME_CHECK(seen.red_and == (kWide<T> & kMask<T>));
  CHIME_CHECK(seen.red_or == (kWide<T> | kMask<T>));
  CHIME_CHECK(seen.red_xor == (kWide<T> ^ kMask<T>));
}

template <class T>
struct Floats {
  Updated<T> add, exchange, cas, cas_of_other_zero;
  T red_add;
};

template <class T>
CHIME_KERNEL void update_floats(Floats<T>* seen) {
  update<T>(seen->add, T(1.5), [](T* p) { return exec::atomic_add(p, T(0.25)); });
  update<T>(seen->exchange, T(1.5), [](T* p) { return exec::atomic_exchange(p, T(-3)); });
  update<T>(seen->cas, T(1.5), [](T* p) { return exec::atomic_cas(p, T(1.5), T(-3)); });
  update<T>(seen->cas_of_other_zero, T(-0.0),
            [](T* p) { return exec::atomic_cas(p, T(0.0), T(7)); });
  seen->red_add = T(1.5);
  exec::red_add(&seen->red_add, T(0.25));
}

template <class T>
static void floats_are_updated() {
  Result<Floats<T>> updates;
  CHIME_NEED(exec::launch({}, update_floats<T>, updates.device()) == CHIMEX_OK);
  const Floats<T> seen = updates.read();
  CHIME_CHECK(seen.add.told == T(1.5) && seen.add.left == T(1.75));
  CHIME_CHECK(seen.exchange.told == T(1.5) && seen.exchange.left == T(-3));
  CHIME_CHECK(seen.cas.told == T(1.5) && seen.cas.left == T(-3));
  CHIME_CHECK(seen.cas_of_other_zero.left == T(0));  // bits are compared: it is not swapped
  CHIME_CHECK(seen.red_add == T(1.75));
}

int main() {
  need_gpu();
  integers_are_updated<std::uint32_t>();
  integers_are_updated<std::int32_t>();
  integers_are_updated<std::uint64_t>();
  integers_are_updated<std::int64_t>();
  floats_are_updated<float>();
  floats_are_updated<double>();
  return verdict();
}
