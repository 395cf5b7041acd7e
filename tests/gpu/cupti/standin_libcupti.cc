// SPDX-License-Identifier: MIT
//
// A stand-in for NVIDIA's libcupti: the functions that syscost calls play records from a script. So the handling of
// records is tested without a GPU. It measures nothing.
//
// SYSCOST_TEST_CUPTI_PLAY names the script; one order a line:
//     version N                     what cuptiGetVersion says; 130001 without
//     refuse FUNCTION STATUS        subscribe, register, enable, flush, timestamp
//     length BYTES                  of a kernel's record: 144 in CUDA 10, 216 in 13
//     per_buffer N                  records in a buffer
//     dropped N                     records that CUPTI had no room for
//     kernel NAME START END ID      copy KIND BYTES START END ID      call START END ID      driver START END ID
//     peer BYTES START END ID       a copy from one device to another
//     memset                        a kind that syscost did not ask for
// Times are in ns from when recording began; a window is then open until 1000000.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kBegin = 1'700'000'000'000'000'000;
constexpr std::uint64_t kStep = 1'000'000;
constexpr int kUnrequestedKind = 2;  // MEMSET, which is delivered all the same; other kinds only when they are enabled

struct Play {
  std::uint32_t version = 130001;
  std::map<std::string, int> refused;
  std::size_t kernel_bytes = 216;
  std::size_t per_buffer = 1000;
  std::size_t dropped = 0;
  std::vector<Bytes> records;
  std::vector<std::string*> names;  // CUPTI's stay valid too
};

template <class T>
void put(Bytes& record, std::size_t offset, T value) {
  std::memcpy(record.data() + offset, &value, sizeof value);
}

Bytes record_of(std::uint32_t kind, std::size_t bytes) {
  Bytes record(bytes);
  put(record, 0, kind);
  return record;
}

std::uint64_t absolute(std::uint64_t ns) {
  return ns == 0 ? 0 : kBegin + ns;  // 0: has not ended
}

void take_order(Play& play, const std::string& line) {
  std::istringstream words(line);
  std::string order;
  words >> order;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t id = 0;
  if (order == "version") words >> play.version;
  if (order == "length") words >> play.kernel_bytes;
  if (order == "per_buffer") words >> play.per_buffer;
  if (order == "dropped") words >> play.dropped;
  if (order == "refuse") {
    std::string function;
    words >> function;
    words >> play.refused[function];
  }
  if (order == "kernel") {
    auto* name = new std::string;
    words >> *name >> start >> end >> id;
    Bytes record = record_of(10, play.kernel_bytes);
    put(record, 16, absolute(start));
    put(record, 24, absolute(end));
    put(record, 92, id);
    put(record, 104, name->c_str());
    play.names.push_back(name);
    play.records.push_back(record);
  }
  if (order == "copy") {
    int kind = 0;
    std::uint64_t bytes = 0;
    words >> kind >> bytes >> start >> end >> id;
    Bytes record = record_of(1, 96);
    put(record, 4, static_cast<std::uint8_t>(kind));
    put(record, 8, bytes);
    put(record, 16, absolute(start));
    put(record, 24, absolute(end));
    put(record, 44, id);
    play.records.push_back(record);
  }
  if (order == "peer") {
    std::uint64_t bytes = 0;
    words >> bytes >> start >> end >> id;
    Bytes record = record_of(22, 96);
    put(record, 4, std::uint8_t{10});
    put(record, 8, bytes);
    put(record, 16, absolute(start));
    put(record, 24, absolute(end));
    put(record, 44, std::uint32_t{1});  // the device it came from
    put(record, 60, id);
    play.records.push_back(record);
  }
  if (order == "call" || order == "driver") {
    words >> start >> end >> id;
    Bytes record = record_of(order == "call" ? 5 : 4, 40);
    put(record, 8, absolute(start));
    put(record, 16, absolute(end));
    put(record, 32, id);
    play.records.push_back(record);
  }
  if (order == "memset") play.records.push_back(record_of(kUnrequestedKind, 88));
}

const Play& play() {
  static const Play* const read = [] {
    auto* play = new Play;
    const char* const path = std::getenv("SYSCOST_TEST_CUPTI_PLAY");
    std::ifstream file(path != nullptr ? path : "");
    for (std::string line; std::getline(file, line);) take_order(*play, line);
    return play;
  }();
  return *read;
}

int answer(const char* function) {
  const auto found = play().refused.find(function);
  return found != play().refused.end() ? found->second : 0;
}

using Request = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
using Completed = void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);
Request g_request = nullptr;
Completed g_completed = nullptr;
std::map<int, bool> g_enabled;
bool g_is_subscribed = false;
bool g_is_played = false;
std::size_t g_dropped = 0;
std::uint64_t g_questions = 0;

/// Where the record at `at` ends. The kinds' lengths are the stand-in's own.
std::size_t length_at(const std::uint8_t* at) {
  std::uint32_t kind = 0;
  std::memcpy(&kind, at, sizeof kind);
  return kind == 10 ? play().kernel_bytes : kind == 1 || kind == 22 ? 96 : kind == 2 ? 88 : 40;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): names of the library that it stands for
extern "C" {

int cuptiGetVersion(std::uint32_t* version) {
  *version = play().version;
  return 0;
}

int cuptiGetResultString(int status, const char** text) {
  static const std::map<int, const char*> texts = {{35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
                                                   {39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
                                                   {999, "CUPTI_ERROR_UNKNOWN"}};
  const auto found = texts.find(status);
  if (found == texts.end()) return 1;
  *text = found->second;
  return 0;
}

int cuptiGetTimestamp(std::uint64_t* now) {
  if (const int status = answer("timestamp"); status != 0) return status;
  *now = kBegin + kStep * g_questions++;
  return 0;
}

int cuptiSubscribe(void** subscriber, void (*)(void*, int, std::uint32_t, const void*), void*) {
  if (const int status = answer("subscribe"); status != 0) return status;
  if (g_is_subscribed) return 39;
  g_is_subscribed = true;
  *subscriber = &g_is_subscribed;
  return 0;
}

int cuptiUnsubscribe(void* subscriber) {
  if (subscriber != &g_is_subscribed || !g_is_subscribed) return 1;
  g_is_subscribed = false;
  return 0;
}

int cuptiActivityRegisterCallbacks(Request request, Completed completed) {
  g_request = request;
  g_completed = completed;
  return answer("register");
}

int cuptiActivityEnable(int kind) {
  if (const int status = answer("enable"); status != 0) return status;
  g_enabled[kind] = true;
  g_is_played = false;
  g_questions = 0;
  return 0;
}

int cuptiActivityDisable(int kind) {
  g_enabled[kind] = false;
  return 0;
}

int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_size, std::uint8_t** record) {
  std::uint8_t* const next = *record == nullptr ? buffer : *record + length_at(*record);
  if (next >= buffer + valid_size) return 12;  // CUPTI_ERROR_MAX_LIMIT_REACHED
  *record = next;
  return 0;
}

int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  *dropped = g_dropped;
  g_dropped = 0;
  return 0;
}

#ifndef STANDIN_WITHOUT_FLUSH
int cuptiActivityFlushAll(std::uint32_t flag) {
  if (const int status = answer("flush"); status != 0) return status;
  if (flag == 0 || g_is_played) return 0;  // as if the last records came late
  g_is_played = true;
  std::vector<Bytes> records;
  for (const Bytes& record : play().records) {
    const int kind = record[0];  // little-endian, and below 256
    if (kind == kUnrequestedKind || g_enabled[kind]) records.push_back(record);
  }
  for (std::size_t first = 0; first < records.size(); first += play().per_buffer) {
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0;
    std::size_t most = 0;
    g_request(&buffer, &size, &most);
    std::size_t used = 0;
    for (std::size_t i = first; i < records.size() && i < first + play().per_buffer; ++i) {
      std::memcpy(buffer + used, records[i].data(), records[i].size());
      used += records[i].size();
    }
    g_completed(nullptr, 0, buffer, size, used);
  }
  g_dropped = play().dropped;
  return 0;
}
#endif

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
