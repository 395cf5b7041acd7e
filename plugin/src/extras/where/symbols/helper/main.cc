// SPDX-License-Identifier: MIT
//
// syscost-symbols: finds the functions and lines of addresses, for --syscost_where.
//
// It is a process of its own for two reasons. Reading debug information takes memory, and in the measured process that
// would change the brk and mmap calls of the tests. And the files may be hostile. It is started by libsyscost.so
// (symbols_link.h), not by people.
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <memory_resource>
#include <string>
#include <utility>

#include "extras/where/symbols/helper/confine.h"
#include "extras/where/symbols/helper/libdw_api.h"
#include "extras/where/symbols/helper/module_symbols.h"
#include "extras/where/symbols/protocol.h"

namespace syscost::symbols {
namespace {

bool receive_all(char* into, std::size_t size) {
  while (size > 0) {
    const ssize_t got = recv(kSocketDescriptor, into, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool send_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(kSocketDescriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool receive_question(Question& question) {
  std::uint32_t size = 0;
  if (!receive_all(reinterpret_cast<char*>(&size), sizeof size) || size > kMaxQuestionBytes) return false;
  std::string body(size, '\0');
  return receive_all(body.data(), size) && take_question(body, question);
}

/// Each file that was asked about stays open: the next test asks about it again.
class Modules {
 public:
  void answer(const Question& question, Answer& answer) {
    std::unique_ptr<ModuleSymbols>& module = modules_[{question.path, question.build_id}];
    if (module == nullptr) module = std::make_unique<ModuleSymbols>(question.path, question.build_id);
    answer.reason = module->reason();
    if (!answer.reason.empty()) return;
    answer.places.reserve(question.addresses.size());
    for (const Address& address : question.addresses) answer.places.push_back(module->at(address));
  }

 private:
  std::map<std::pair<std::string, std::string>, std::unique_ptr<ModuleSymbols>> modules_;
};

int serve() {
  const Result<const LibdwApi*> library = open_libdw();
  const Result<void> confined = confine_to_reading();
  Modules modules;
  Question question;
  while (receive_question(question)) {
    Answer answer(std::pmr::get_default_resource());
    if (!library.ok()) {
      answer.reason = library.failure().reason + "; " + library.failure().how_to_fix;
    } else if (!confined.ok()) {
      answer.reason = confined.failure().reason;
    } else {
      // Some file may keep its reader busy for ever. Then SIGALRM ends this process.
      alarm(kMostSecondsForAnswer);
      modules.answer(question, answer);
      alarm(0);
    }
    std::pmr::string message;
    put_answer(message, answer);
    if (message.size() - sizeof(std::uint32_t) > kMaxAnswerBytes) {
      message.clear();
      answer.reason = "its answer is too long";
      answer.places.clear();
      put_answer(message, answer);
    }
    if (!send_all(message)) return 1;
  }
  return 0;
}

int run() {
  struct stat status {};
  if (fstat(kSocketDescriptor, &status) != 0 || !S_ISSOCK(status.st_mode)) {
    std::fputs("syscost-symbols: part of syscost, started by the library it is installed with\n", stderr);
    return 2;
  }
  prctl(PR_SET_NAME, "syscost-symbols");
  // Debug information comes from this machine. libdw asks a server on the network if this variable is set.
  unsetenv("DEBUGINFOD_URLS");
  signal(SIGPIPE, SIG_IGN);
  signal(SIGALRM, SIG_DFL);
  return serve();
}

}  // namespace
}  // namespace syscost::symbols

int main() {
  return syscost::symbols::run();
}
