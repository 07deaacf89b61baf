// What a kernel's parameters are, for chime.kernel: the host's compiler and NVRTC make the same
// table of it, so it has neither text nor a standard library's questions that Chime's headers for
// NVRTC lack.
#pragma once

#include <type_traits>

namespace chime_python {

// As numpy says it. kind: b, i, u, f; v of a pointer to void; x what is neither number nor pointer.
// 0: behind the last one.
struct Parameter {
  char kind;
  bool is_pointer, is_const;  // is_const: what it points to
  unsigned bytes;             // of what it points to; 0: void
};

template <class T, bool = __is_enum(T)>
inline constexpr Parameter kNumber = {std::is_same_v<T, bool>       ? 'b'
                                      : std::is_floating_point_v<T> ? 'f'
                                      : !std::is_integral_v<T>      ? 'x'
                                      : std::is_signed_v<T>         ? 'i'
                                                                    : 'u',
                                      false, false, sizeof(T)};
template <class T>
inline constexpr Parameter kNumber<T, true> = kNumber<__underlying_type(T)>;

template <class T>
inline constexpr Parameter kPointed = {kNumber<T>.kind, true, false, kNumber<T>.bytes};
template <>
inline constexpr Parameter kPointed<void> = {'v', true, false, 0};
template <class T>
inline constexpr Parameter kPointed<T*> = {'u', true, false, 8};
template <class T>
inline constexpr Parameter kPointed<volatile T> = kPointed<T>;
template <class T>
inline constexpr Parameter kPointed<const T> = {kPointed<T>.kind, true, true, kPointed<T>.bytes};
template <class T>
inline constexpr Parameter kPointed<const volatile T> = kPointed<const T>;

template <class P>
inline constexpr Parameter kParameter = kNumber<P>;
template <class T>
inline constexpr Parameter kParameter<T*> = kPointed<T>;

template <class... P>
struct Parameters {
  Parameter all[sizeof...(P) + 1];
};

template <class... P>
constexpr Parameters<P...> parameters_of(void (*)(P...)) {
  return {{kParameter<P>..., Parameter{}}};
}

}  // namespace chime_python

// In what NVRTC makes, read by nvrtc.py.
#define CHIME_PYTHON_PARAMETERS(...)                      \
  extern "C" __constant__ const auto chime_python_table = \
      ::chime_python::parameters_of(static_cast<decltype(&__VA_ARGS__)>(nullptr));
