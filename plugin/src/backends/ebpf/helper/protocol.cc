// SPDX-License-Identifier: MIT
#include "backends/ebpf/helper/protocol.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>

#include "backends/ebpf/helper/shares.h"
#include "backends/ebpf/loaded_programs.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83  // Linux 6.16
#endif

namespace syscost::ebpf {
namespace {

/// Tells apart what must not meet.
std::string build_name() {
  std::array<char, 64> name{};
  std::snprintf(name.data(), name.size(), "%d-%016llx", kProtocolVersion,
                static_cast<unsigned long long>(build_hash()));  // NOLINT(google-runtime-int)
  return name.data();
}

Address abstract_address(const std::string& name) {
  Address address;
  address.name.sun_family = AF_UNIX;
  // A first byte of 0: no file.
  std::copy(name.begin(), name.end(), address.name.sun_path + 1);
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

void copy_text(const std::string& text, std::array<char, 480>& into) {
  const std::size_t length = std::min(text.size(), into.size() - 1);
  std::copy_n(text.begin(), length, into.begin());
}

std::string text_of(const std::array<char, 480>& text) {
  return {text.begin(), std::find(text.begin(), text.end(), '\0')};
}

}  // namespace

Question join_question(const ProgramRequest& request) {
  const DetailRequest& details = request.details;
  Question question;
  question.request = Request::join;
  question.wanted = request.wanted;
  question.ioctls = details.ioctls ? 1 : 0;
  question.files = details.files ? 1 : 0;
  question.rule_count = static_cast<std::uint8_t>(std::min(details.rules.size(), question.rules.size()));
  std::copy_n(details.rules.begin(), question.rule_count, question.rules.begin());
  for (const std::string& name : details.driver_threads) {
    if (question.driver_thread_count == question.driver_threads.size()) break;
    std::copy_n(name.begin(), std::min(name.size(), kMaxThreadName),
                question.driver_threads[question.driver_thread_count++].begin());
  }
  return question;
}

ProgramRequest request_of(const Question& question) {
  ProgramRequest request;
  for (std::size_t i = 0; i < program_groups().size(); ++i) {
    request.wanted[i] = std::min(question.wanted[i], program_groups()[i]->most());
  }
  DetailRequest& details = request.details;
  details.ioctls = question.ioctls != 0;
  details.files = question.files != 0;
  details.rules.assign(question.rules.begin(),
                       question.rules.begin() + std::min<std::size_t>(question.rule_count, question.rules.size()));
  for (std::size_t i = 0; i < std::min<std::size_t>(question.driver_thread_count, kMaxDriverThreads); ++i) {
    const auto& name = question.driver_threads[i];
    details.driver_threads.emplace_back(name.begin(), std::find(name.begin(), name.begin() + kMaxThreadName, '\0'));
  }
  return request;
}

Address address_of(uid_t user) {
  std::array<char, 32> group{};
  std::snprintf(group.data(), group.size(), "%016llx",
                static_cast<unsigned long long>(own_surroundings()));  // NOLINT(google-runtime-int)
  return abstract_address("syscost-ebpf-" + build_name() + "-" + group.data() + "-" + std::to_string(user));
}

Address address_of_mark(uid_t user, int number) {
  return abstract_address("syscost-helper-" + std::to_string(number) + "-" + std::to_string(user));
}

Address address_for_everyone() {
  const std::string path = std::string(kFolderForEveryone) + "/ebpf-" + build_name() + ".socket";
  Address address;
  address.name.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.name.sun_path);
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return address;
}

void refuse_descriptors(int socket) {
  const int off = 0;
  setsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof off);
}

bool refuses_descriptors(int socket) {
  int passes = 1;
  socklen_t size = sizeof passes;
  return getsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &passes, &size) == 0 && passes == 0;
}

void ask_for_senders(int socket) {
  const int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
}

bool send_message(int socket, const void* message, std::size_t size, const PassedDescriptors& passed) {
  return send_passing(socket, message, size, passed.all(), MSG_DONTWAIT) == static_cast<ssize_t>(size);
}

bool receive_message(int socket, void* message, std::size_t size, PassedDescriptors* passed) {
  const ssize_t got = receive_passing(socket, message, size, passed, 0);
  if (got == static_cast<ssize_t>(size)) return true;
  if (got < 0) return false;
  if (passed != nullptr) passed->close_all();
  errno = got == 0 ? 0 : EBADMSG;
  return false;
}

Answer failed_answer(const Failure& failure) {
  Answer answer;
  answer.has_failed = 1;
  copy_text(failure.reason, answer.reason);
  copy_text(failure.how_to_fix, answer.how_to_fix);
  return answer;
}

Failure failure_of(const Answer& answer) {
  return {text_of(answer.reason), text_of(answer.how_to_fix)};
}

}  // namespace syscost::ebpf
