// A program with calls at lines that are known. debug_kinds_test.cc compiles it with each kind of debug information,
// runs it, and compares what is found with the marks.
#include "subject.h"

namespace {

int probe_file() {
  return here();  // MARK file_local (anonymous namespace)::probe_file
}

}  // namespace

namespace store {

struct Log {
  __attribute__((noinline)) int batch(int count);
  int inlined(int count) {
    return here() + count;  // MARK inlined store::Log::inlined
  }
};

int Log::batch(int count) {
  int sum = count;
  sum += here();  // MARK method store::Log::batch
  return sum;
}

template <class Value>
__attribute__((noinline)) int put(Value value) {
  return here() + static_cast<int>(value);  // MARK template store::put<
}

}  // namespace store

extern "C" __attribute__((noinline)) int plain_c(int value) {
  return here() + value;  // MARK c plain_c
}

int main() {
  store::Log log;
  int sum = log.batch(1);
  sum += log.inlined(2);
  sum += store::put(3L);
  sum += plain_c(4);
  sum += probe_file();
  const auto lambda = [](int value) {
    return here() + value;  // MARK lambda main::{lambda}
  };
  sum += lambda(5);
  sum += in_header(6);
  return sum == 0x7fffffff ? 1 : 0;
}
