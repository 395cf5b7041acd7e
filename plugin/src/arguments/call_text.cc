// SPDX-License-Identifier: MIT
#include "arguments/call_text.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include "arguments/arguments.h"
#include "core/syscall_id.h"
#include "os/errors.h"

namespace syscost {
namespace {

std::string formatted(const char* format, std::uint64_t value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, static_cast<unsigned long long>(value));
  return text.data();
}

std::string address_text(std::uint64_t value) {
  return value == 0 ? "NULL" : formatted("0x%llx", value);
}

std::string int_text(std::uint64_t value) {
  return std::to_string(static_cast<std::int32_t>(value));
}

/// `0644`; 0 has one digit.
std::string mode_text(std::uint64_t value) {
  return value == 0 ? "000" : formatted("0%llo", static_cast<std::uint32_t>(value));
}

/// A request without a name, by its parts.
std::string request_parts(std::uint32_t request) {
  constexpr std::array<std::string_view, 4> kDirections = {"_IOC_NONE", "_IOC_WRITE", "_IOC_READ",
                                                           "_IOC_READ|_IOC_WRITE"};
  return "_IOC(" + std::string(kDirections[request >> 30]) + ", " + formatted("0x%llx", request >> 8 & 0xff) + ", " +
         formatted("0x%llx", request & 0xff) + ", " + formatted("0x%llx", request >> 16 & 0x3fff) + ")";
}

bool is_hexadecimal(const std::string& text) {
  return text.starts_with("0x");
}

std::string set_text(ConstantSet set, std::uint64_t value) {
  const auto bits = static_cast<std::uint32_t>(value);
  switch (set) {
    case ConstantSet::request: {
      const std::string text = constants_text(set, bits);
      return is_hexadecimal(text) ? request_parts(bits) : text;
    }
    case ConstantSet::signal:
    case ConstantSet::socket_option:
    case ConstantSet::protocol:
    case ConstantSet::clock: {
      // A number that is none of them: a real-time signal, a clock of a process.
      const std::string text = constants_text(set, bits);
      return is_hexadecimal(text) || bits == 0 ? (text == "0" || is_hexadecimal(text) ? int_text(bits) : text) : text;
    }
    case ConstantSet::clone_flags: {
      const std::uint32_t signal = bits & 0xff;
      std::string text = bits == signal ? "" : constants_text(set, bits & ~std::uint32_t{0xff});
      if (signal != 0) text += (text.empty() ? "" : "|") + set_text(ConstantSet::signal, signal);
      return text.empty() ? "0" : text;
    }
    case ConstantSet::ipc_flags: {
      constexpr std::uint32_t kMode = 0x1ff;
      const std::string flags = (bits & ~kMode) != 0 ? constants_text(set, bits & ~kMode) + "|" : std::string();
      return flags + mode_text(bits & kMode);
    }
    default:
      return constants_text(set, bits);
  }
}

const CallEvent::Text* text_of(const CallEvent& event, std::size_t argument) {
  const auto found = std::find_if(event.texts.begin(), event.texts.end(),
                                  [&](const CallEvent::Text& text) { return text.argument == argument; });
  return found != event.texts.end() ? &*found : nullptr;
}

std::string value_text(const SyscallArgument& argument, std::uint64_t value, const CallEvent::Text* text) {
  switch (argument.kind) {
    case ArgumentKind::number:
    case ArgumentKind::descriptor:
      return int_text(value);
    case ArgumentKind::unsigned_number:
      return std::to_string(static_cast<std::uint32_t>(value));
    case ArgumentKind::long_number:
      return std::to_string(static_cast<std::int64_t>(value));
    case ArgumentKind::size:
      return std::to_string(value);
    case ArgumentKind::hexadecimal:
      return value == 0 ? "0" : formatted("0x%llx", value);
    case ArgumentKind::address:
      return address_text(value);
    case ArgumentKind::directory:
      return static_cast<std::int32_t>(value) == AT_FDCWD ? "AT_FDCWD" : int_text(value);
    case ArgumentKind::path:
      return text != nullptr ? quoted(text->text, text->is_cut) : address_text(value);
    case ArgumentKind::mode:
      return mode_text(value);
    case ArgumentKind::constants:
      return set_text(argument.set, value);
  }
  return "?";
}

// ---- calls with arguments that depend on others ---------------------------------------------------------------------

bool is_call(SyscallId id, long number) {
  return id.abi != Abi::i386 && id.number == static_cast<std::uint32_t>(number);
}

bool takes_mode(std::uint64_t flags) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

std::size_t count_for_futex(std::uint64_t operation) {
  switch (operation & static_cast<unsigned>(FUTEX_CMD_MASK)) {
    case FUTEX_WAKE:
      return 3;
    case FUTEX_UNLOCK_PI:
    case FUTEX_TRYLOCK_PI:
      return 2;
    case FUTEX_WAIT:
    case FUTEX_LOCK_PI:
      return 4;
    default:
      return 6;
  }
}

/// For the options that programs use most.
std::size_t count_for_prctl(std::uint64_t option, std::size_t all) {
  constexpr std::array kGetters = {PR_GET_DUMPABLE, PR_GET_KEEPCAPS, PR_GET_SECCOMP, PR_GET_TIMERSLACK};
  constexpr std::array kWithOne = {PR_GET_NAME,     PR_SET_NAME,     PR_GET_PDEATHSIG, PR_SET_PDEATHSIG,
                                   PR_SET_DUMPABLE, PR_SET_KEEPCAPS, PR_SET_TIMERSLACK};
  const auto is = [&](int known) { return known == static_cast<int>(option); };
  if (std::any_of(kGetters.begin(), kGetters.end(), is)) return 1;
  return std::any_of(kWithOne.begin(), kWithOne.end(), is) ? 2 : all;
}

bool reads_no_argument(std::uint64_t command) {
  constexpr std::array kGetters = {F_GETFD, F_GETFL, F_GETOWN, F_GETSIG, F_GETLEASE, F_GETPIPE_SZ, F_GET_SEALS};
  return std::find(kGetters.begin(), kGetters.end(), static_cast<int>(command)) != kGetters.end();
}

// Values from the kernel's linux/mman.h and linux/membarrier.h; older headers lack some.
constexpr std::uint64_t kMremapFixed = 2;
constexpr std::uint64_t kMremapDontUnmap = 4;
constexpr std::uint64_t kMembarrierCpu = 1;

/// How many of the arguments the kernel looks at.
std::size_t count_of(const CallEvent& event, std::size_t all) {
  const auto& values = event.arguments;
  if (is_call(event.id, SYS_open) && !takes_mode(values[1])) return 2;
  if (is_call(event.id, SYS_openat) && !takes_mode(values[2])) return 3;
  if (is_call(event.id, SYS_futex)) return count_for_futex(values[1]);
  if (is_call(event.id, SYS_fcntl) && reads_no_argument(values[1])) return 2;
  if (is_call(event.id, SYS_prctl)) return count_for_prctl(values[0], all);
  if (is_call(event.id, SYS_mremap) && (values[3] & (kMremapFixed | kMremapDontUnmap)) == 0) return 4;
  if (is_call(event.id, SYS_membarrier) && (values[1] & kMembarrierCpu) == 0) return 2;
  return all;
}

/// The argument as its kind is in this call.
SyscallArgument kind_in(const CallEvent& event, std::size_t index, SyscallArgument argument) {
  const auto& values = event.arguments;
  if (is_call(event.id, SYS_fcntl) && index == 2) {
    const auto command = static_cast<int>(values[1]);
    if (command == F_SETFD) return {argument.name, ArgumentKind::constants, ConstantSet::descriptor_flags};
    if (command == F_SETFL) return {argument.name, ArgumentKind::constants, ConstantSet::open_flags};
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) return {argument.name, ArgumentKind::number};
  }
  if (is_call(event.id, SYS_socket) && index == 2) {
    const auto family = static_cast<int>(values[0]);
    if (family != AF_INET && family != AF_INET6) return {argument.name, ArgumentKind::number};
  }
  const bool is_option = is_call(event.id, SYS_setsockopt) || is_call(event.id, SYS_getsockopt);
  if (is_option && index == 2 && static_cast<int>(values[1]) != SOL_SOCKET) {
    if (static_cast<int>(values[1]) != IPPROTO_TCP) return {argument.name, ArgumentKind::number};
    return {argument.name, ArgumentKind::constants, ConstantSet::tcp_option};
  }
  return argument;
}

/// `RM_ALLOC COMPUTE /* nvidiactl */`: an ioctl's request, if the driver of its device is known; else empty.
std::string driver_request(const CallEvent& event, std::size_t index) {
  if (!is_call(event.id, SYS_ioctl) || index != 1) return {};
  const RequestNames names = request_names(event.id.detail);
  if (names.request.empty() || is_hexadecimal(names.request)) return {};
  return names.request + " /* " + names.device + " */";
}

bool returns_address(SyscallId id) {
  constexpr std::array kCalls = {SYS_mmap, SYS_brk, SYS_mremap, SYS_shmat};
  return std::any_of(kCalls.begin(), kCalls.end(), [&](long number) { return is_call(id, number); });
}

std::string description_of(int error) {
#if __GLIBC_PREREQ(2, 32)
  // Not strerror(): its words depend on the program's locale, and it may load a catalogue.
  const char* text = strerrordesc_np(error);
  if (text != nullptr) return std::string(" (") + text + ")";
#endif
  return {};
}

}  // namespace

std::string quoted(std::string_view text, bool is_cut) {
  std::string all = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    const bool before_digit = i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '7';
    if (c == '"' || c == '\\') {
      all.append("\\").append(1, c);
    } else if (c == '\n') {
      all += "\\n";
    } else if (c == '\t') {
      all += "\\t";
    } else if (byte < 0x20 || byte >= 0x7f) {
      all += formatted(before_digit ? "\\%03llo" : "\\%llo", byte);
    } else {
      all += c;
    }
  }
  return all + (is_cut ? "\"..." : "\"");
}

std::vector<ArgumentText> argument_texts(const CallEvent& event) {
  std::vector<ArgumentText> texts;
  const bool is_known = has_known_arguments(event.id);
  if (!event.has_arguments || (!is_known && !event.latency_ns.has_value())) {
    if (!is_known || !syscall_arguments(event.id).empty()) texts.push_back({"", "?"});
    return texts;
  }
  if (!is_known) {
    for (const std::uint64_t value : event.arguments) texts.push_back({"", formatted("0x%llx", value)});
    return texts;
  }
  const auto arguments = syscall_arguments(event.id);
  for (std::size_t i = 0; i < count_of(event, arguments.size()); ++i) {
    const SyscallArgument argument = kind_in(event, i, arguments[i]);
    if (std::string request = driver_request(event, i); !request.empty()) {
      texts.push_back({argument.name, std::move(request)});
      continue;
    }
    texts.push_back({argument.name, value_text(argument, event.arguments[i], text_of(event, i))});
  }
  return texts;
}

std::string result_text(const CallEvent& event) {
  constexpr std::int64_t kMostErrno = 4095;
  if (!event.latency_ns.has_value()) return "?";
  if (event.result < 0 && event.result >= -kMostErrno) {
    const int error = static_cast<int>(-event.result);
    return "-1 " + errno_name(error) + description_of(error);
  }
  const auto value = static_cast<std::uint64_t>(event.result);
  if (returns_address(event.id)) return formatted("0x%llx", value);
  if (is_call(event.id, SYS_fcntl) && event.arguments[1] == F_GETFL) {
    return formatted("0x%llx", value) + " (flags " + constants_text(ConstantSet::open_flags, value) + ")";
  }
  if (is_call(event.id, SYS_fcntl) && event.arguments[1] == F_GETFD && value != 0) {
    return formatted("0x%llx", value) + " (flags " + constants_text(ConstantSet::descriptor_flags, value) + ")";
  }
  return std::to_string(event.result);
}

}  // namespace syscost
