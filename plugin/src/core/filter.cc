// SPDX-License-Identifier: MIT
#include "core/filter.h"

#include <utility>

#include "core/syscall_table.h"

namespace syscost {
namespace {

constexpr std::size_t position(SyscallId id) {
  return static_cast<std::size_t>(id.abi) * Filter::kNumbers + id.number;
}

/// Names the first few of a list and counts the rest.
class ShortList {
 public:
  void add(SyscallId id) {
    constexpr std::size_t kNamed = 3;
    if (++count_ > kNamed) return;
    if (count_ > 1) text_ += ", ";
    text_ += syscall_name(id);
    named_ = count_;
  }
  std::string text() && {
    if (count_ > named_) text_.append(" and ").append(std::to_string(count_ - named_)).append(" more");
    return std::move(text_);
  }

 private:
  std::string text_;
  std::size_t count_ = 0;
  std::size_t named_ = 0;
};

}  // namespace

Filter::Filter(std::string_view text, Selector selector) : text_(text), selector_(std::move(selector)) {
  for (std::size_t abi = 0; abi < kAbiCount; ++abi) {
    for (std::uint32_t number = 0; number < kNumbers; ++number) {
      const SyscallId id{static_cast<Abi>(abi), number};
      selected_[position(id)] = selector_.matches(id);
    }
  }
}

Result<std::shared_ptr<const Filter>> Filter::parse(std::string_view text) {
  Result<Selector> selector = Selector::parse(text);
  if (!selector.ok()) return selector.failure();
  return std::shared_ptr<const Filter>(new Filter(text, std::move(selector.value())));
}

bool Filter::selects(SyscallId id) const {
  return id.number < kNumbers ? selected_[position(id)] : selector_.matches(id);
}

std::string Filter::left_out(const Selector& wanted) const {
  ShortList missing;
  // The table first, because it is fast. Regular expressions last, because they allocate.
  auto is_missing = [&](SyscallId id) {
    return (id.number >= kNumbers || !selected_[position(id)]) && wanted.matches(id) && !selects(id);
  };
  for (std::size_t abi = 0; abi < kAbiCount; ++abi) {
    for (std::uint32_t number = 0; number < kNumbers; ++number) {
      const SyscallId id{static_cast<Abi>(abi), number};
      // A number without a name is selected only by its own name, below: `*` selects existing syscalls.
      if (syscall_base_name(id).empty() || !is_missing(id)) continue;
      // `openat` is enough; `i386:openat` only if that one alone is missing.
      const auto namesake = find_syscall(kNativeAbi, syscall_base_name(id));
      if (id.abi == kNativeAbi || !namesake.has_value() || !is_missing(*namesake)) missing.add(id);
    }
  }
  auto check = [&](SyscallId id) {
    const bool is_new = id.number >= kNumbers || syscall_base_name(id).empty();
    if (is_new && is_missing(id)) missing.add(id);
  };
  wanted.for_each_number(check);
  selector_.for_each_number(check);
  // One number stands for all numbers without a name.
  if (const SyscallId some{kNativeAbi, kNumbers}; is_missing(some)) missing.add(kUnknownSyscall);
  return std::move(missing).text();
}

}  // namespace syscost
