// SPDX-License-Identifier: MIT
#include "otlp/transport.h"

// Its macros check the types of calls by name; the functions here have other names.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include "csv/text.h"

namespace syscost::bench::otlp {
namespace {

/// Functions of libcurl that bench uses.
struct CurlApi {
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_easy_init) init = nullptr;
  decltype(&::curl_easy_cleanup) cleanup = nullptr;
  decltype(&::curl_easy_setopt) set = nullptr;
  decltype(&::curl_easy_perform) perform = nullptr;
  decltype(&::curl_easy_getinfo) info = nullptr;
  decltype(&::curl_easy_strerror) strerror = nullptr;
  decltype(&::curl_slist_append) append = nullptr;
  decltype(&::curl_slist_free_all) free_all = nullptr;
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// None: `fault` says what is wrong.
std::optional<CurlApi> load(std::string& fault) {
  CurlApi api;
  // Debian's two builds differ in what encrypts; the functions are the same.
  std::string why;
  void* library = nullptr;
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
    if (why.empty()) why = dlerror();
  }
  if (library == nullptr) {
    fault = "libcurl.so.4 cannot be loaded, and bench sends by it: " + why +
            "\nInstall it (Debian 12, Ubuntu: apt-get install libcurl4; Debian 13: libcurl4t64; Fedora: dnf install "
            "libcurl), or write a file with --otlp FILE, which needs no libcurl.";
    return std::nullopt;
  }
  const bool has_all =
      find(library, "curl_global_init", api.global_init) && find(library, "curl_easy_init", api.init) &&
      find(library, "curl_easy_cleanup", api.cleanup) && find(library, "curl_easy_setopt", api.set) &&
      find(library, "curl_easy_perform", api.perform) && find(library, "curl_easy_getinfo", api.info) &&
      find(library, "curl_easy_strerror", api.strerror) && find(library, "curl_slist_append", api.append) &&
      find(library, "curl_slist_free_all", api.free_all);
  if (!has_all || api.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    fault = "libcurl.so.4 lacks a function that bench needs. Install libcurl 7.66 or newer.";
    return std::nullopt;
  }
  return api;
}

/// Called by libcurl with pieces of the reply's body.
std::size_t keep_body(char* data, std::size_t one, std::size_t count, void* body) {
  constexpr std::size_t kMost = 65536;
  auto& kept = *static_cast<std::string*>(body);
  kept.append(data, std::min(one * count, kMost - std::min(kMost, kept.size())));
  return one * count;
}

/// True for what a receiver that starts, or an overloaded network, causes.
bool may_pass(CURLcode code) {
  static constexpr std::array<CURLcode, 7> kPassing = {
      CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT, CURLE_GOT_NOTHING,
      CURLE_SEND_ERROR,           CURLE_RECV_ERROR,      CURLE_PARTIAL_FILE};
  return std::find(kPassing.begin(), kPassing.end(), code) != kPassing.end();
}

class CurlTransport : public Transport {
 public:
  CurlTransport(const CurlApi& api, CURL* handle) : api_(api), handle_(handle) {}
  ~CurlTransport() override { api_.cleanup(handle_); }
  CurlTransport(const CurlTransport&) = delete;
  CurlTransport& operator=(const CurlTransport&) = delete;

  Reply post(const Endpoint& to, const std::vector<Header>& headers, const std::string& body,
             std::chrono::milliseconds limit) override {
    Reply reply;
    curl_slist* list = nullptr;
    const auto add = [&](const std::string& line) {
      if (curl_slist* const longer = api_.append(list, line.c_str()); longer != nullptr) list = longer;
    };
    // An empty value needs the semicolon: with a colon alone libcurl would leave the header out.
    for (const Header& one : headers) add(one.name + (one.value.empty() ? ";" : ": " + one.value));
    add("Expect:");  // a wait for "100 Continue" gains nothing here
    std::array<char, CURL_ERROR_SIZE> text{};
    api_.set(handle_, CURLOPT_URL, to.url.c_str());
    api_.set(handle_, CURLOPT_POST, 1L);
    api_.set(handle_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    api_.set(handle_, CURLOPT_POSTFIELDS, body.data());
    api_.set(handle_, CURLOPT_HTTPHEADER, list);
    api_.set(handle_, CURLOPT_USERAGENT, "syscost-bench/" SYSCOST_VERSION);
    api_.set(handle_, CURLOPT_FOLLOWLOCATION, 0L);
    if (!to.certificates.empty()) api_.set(handle_, CURLOPT_CAINFO, to.certificates.c_str());
    api_.set(handle_, CURLOPT_TIMEOUT_MS, static_cast<long>(std::max<std::int64_t>(1, limit.count())));
    api_.set(handle_, CURLOPT_ERRORBUFFER, text.data());
    api_.set(handle_, CURLOPT_WRITEFUNCTION, &keep_body);
    api_.set(handle_, CURLOPT_WRITEDATA, &reply.body);
    const CURLcode code = api_.perform(handle_);
    api_.set(handle_, CURLOPT_ERRORBUFFER, nullptr);
    if (code == CURLE_OK) {
      api_.info(handle_, CURLINFO_RESPONSE_CODE, &reply.status);
      const char* redirect = nullptr;
      api_.info(handle_, CURLINFO_REDIRECT_URL, &redirect);
      if (redirect != nullptr) reply.redirect_url = redirect;
      curl_off_t wait_s = 0;
      api_.info(handle_, CURLINFO_RETRY_AFTER, &wait_s);
      if (wait_s > 0) reply.retry_after = std::chrono::seconds(wait_s);
    } else {
      reply.fault = csv::printable(text[0] != '\0' ? text.data() : api_.strerror(code));
      long error = 0;  // libcurl's text has no reason
      api_.info(handle_, CURLINFO_OS_ERRNO, &error);
      if (code == CURLE_COULDNT_CONNECT && error != 0) {
        reply.fault = std::generic_category().message(static_cast<int>(error));
      }
      reply.may_pass = may_pass(code);
    }
    api_.free_all(list);
    return reply;
  }

 private:
  CurlApi api_;
  CURL* handle_;
};

}  // namespace

std::unique_ptr<Transport> open_libcurl(std::string& fault) {
  const std::optional<CurlApi> api = load(fault);
  if (!api) return nullptr;
  CURL* const handle = api->init();
  if (handle == nullptr) {
    fault = "libcurl has no memory for a connection";
    return nullptr;
  }
  return std::make_unique<CurlTransport>(*api, handle);
}

}  // namespace syscost::bench::otlp
