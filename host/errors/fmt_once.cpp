// fmt's own code, once in the library: other files see its declarations (host/CMakeLists.txt).
// Where fmt's version is not one that this file knows, each file compiles what it needs of it.
#ifndef FMT_HEADER_ONLY
#include <fmt/format-inl.h>
static_assert(FMT_VERSION / 10000 == 9, "the templates that fmt's library instantiates differ");

FMT_BEGIN_NAMESPACE
namespace detail {
template auto dragonbox::to_decimal(float) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
}  // namespace detail
FMT_END_NAMESPACE
#endif
