// SPDX-License-Identifier: MIT
//
// The compiled part of fmt, so that `bench` needs no libfmt of the machine it runs on (bench_tool/CMakeLists.txt).
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {
// Defines the functions that fmt/format.h declares and leaves to the library.
template auto dragonbox::to_decimal(float value) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double value) noexcept -> dragonbox::decimal_fp<double>;
template auto thousands_sep_impl(locale_ref locale) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref locale) -> char;
template void vformat_to(buffer<char>& out, string_view format, format_args arguments, locale_ref locale);
}  // namespace detail
FMT_END_NAMESPACE
