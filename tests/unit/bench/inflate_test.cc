// SPDX-License-Identifier: MIT
//
// Files packed by gzip: bench reads their contents, and refuses damaged ones.
#include "csv/input.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <system_error>

#include "bench.h"
#include "csv_text.h"

namespace syscost::bench {
namespace {

namespace fs = std::filesystem;

std::string packed(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(::deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

csv::ReadBytes in_pieces(std::string bytes, std::size_t most) {
  return [bytes = std::move(bytes), most, at = std::size_t{0}](char* buffer, std::size_t size) mutable {
    const std::size_t count = std::min({size, most, bytes.size() - at});
    bytes.copy(buffer, count, at);
    at += count;
    return count;
  };
}

struct Unpacked {
  std::string text;
  std::string fault;
};

Unpacked unpack(const std::string& bytes, std::size_t piece = 1000) {
  Unpacked result;
  const csv::ReadBytes read = csv::inflated(in_pieces(bytes, piece));
  char buffer[5000];
  try {
    while (const std::size_t got = read(buffer, sizeof buffer)) result.text.append(buffer, got);
  } catch (const std::system_error& error) {
    result.fault = error.code().message();
    EXPECT_THROW(read(buffer, sizeof buffer), std::system_error) << "a fault stays";
  }
  return result;
}

std::string many_lines() {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "line " + std::to_string(i * i) + '\n';
  return text;
}

TEST(Inflate, DeliversWhatWasPacked) {
  for (const std::size_t piece : {1U, 7U, 100'000U}) {
    const Unpacked one = unpack(packed(many_lines()), piece);
    EXPECT_EQ(one.fault, "");
    EXPECT_EQ(one.text, many_lines());
  }
  EXPECT_EQ(unpack(packed("")).fault, "");
}

TEST(Inflate, IsOfWhatBeginsAsGzipFilesDo) {
  EXPECT_TRUE(csv::is_gzip(packed("a")));
  EXPECT_FALSE(csv::is_gzip("\x1F"));
  EXPECT_FALSE(csv::is_gzip("\x1F\x9D compress"));
}

TEST(Inflate, ReadsFilesThatWereAppended) {
  const Unpacked all = unpack(packed("a\n") + packed(many_lines()) + packed("z\n") + std::string(512, '\0'));
  EXPECT_EQ(all.fault, "");
  EXPECT_EQ(all.text, "a\n" + many_lines() + "z\n");
}

TEST(Inflate, SaysWhereDataAreCutShort) {
  const std::string whole = packed(many_lines());
  for (std::size_t cut = 1; cut < whole.size(); cut += 211) {
    const Unpacked part = unpack(whole.substr(0, cut));
    EXPECT_EQ(part.fault, "its gzip data stop before their end; copy or pack it again") << cut;
    EXPECT_EQ(many_lines().rfind(part.text, 0), 0U);
  }
}

TEST(Inflate, SaysWhereDataAreDamaged) {
  std::string damaged = packed(many_lines());
  damaged[damaged.size() / 2] ^= 0x55;
  EXPECT_EQ(unpack(damaged).fault, "its gzip data are damaged; copy or pack it again");
  EXPECT_EQ(unpack(packed("a\n") + "b\n").fault,
            "something that is no gzip data follows its gzip data; what follows is not read");
}

TEST(Inflate, DeliversWhatComesBeforeADamage) {
  std::string damaged = packed(many_lines());
  damaged[damaged.size() - 5] ^= 1;  // a byte of the checksum after the text
  const Unpacked one = unpack(damaged);
  EXPECT_EQ(one.fault, "its gzip data are damaged; copy or pack it again");
  EXPECT_EQ(one.text, many_lines());
}

TEST(Inflate, TakesSmallFilesThatPackWellAndLargeOnesThatDoNot) {
  const std::string alike(1'000'000, 'a');
  ASSERT_LT(packed(alike).size() * csv::kMostTimesPacked, alike.size());
  EXPECT_EQ(unpack(packed(alike)).text, alike);

  std::mt19937_64 random(1);
  std::string noise(std::size_t{1} << 20, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  const std::string one = packed(noise);
  const std::size_t files = csv::kAnyUnpackedBytes / noise.size() + 2;
  const csv::ReadBytes read = csv::inflated([&, at = std::size_t{0}](char* buffer, std::size_t size) mutable {
    const std::size_t place = at % one.size();
    const std::size_t count = at == files * one.size() ? 0 : std::min(size, one.size() - place);
    one.copy(buffer, count, place);
    at += count;
    return count;
  });
  std::string buffer(noise.size(), '\0');
  std::uint64_t unpacked = 0;
  while (const std::size_t got = read(buffer.data(), buffer.size())) unpacked += got;
  EXPECT_EQ(unpacked, files * noise.size());
}

TEST(Inflate, StopsBeforeItUnpacksToWhatNoMachineHolds) {
  // Packed to a thousandth: fifty of these in a row would be three gigabytes.
  const std::string one = packed(std::string(csv::kAnyUnpackedBytes, 'a'));
  ASSERT_LT(one.size() * 500, csv::kAnyUnpackedBytes);
  std::string many;
  for (int i = 0; i < 50; ++i) many += one;
  const csv::ReadBytes read = csv::inflated(in_pieces(many, many.size()));
  std::string buffer(std::size_t{1} << 20, '\0');
  std::uint64_t unpacked = 0;
  try {
    for (;;) unpacked += read(buffer.data(), buffer.size());
  } catch (const std::system_error& error) {
    EXPECT_NE(error.code().message().find("unpacks to more than 200 times its size"), std::string::npos);
  }
  EXPECT_LE(unpacked, csv::kAnyUnpackedBytes + buffer.size());
}

class PackedFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "syscost_packed_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::ostringstream text;
    text << std::ifstream(std::string(SYSCOST_SOURCE_DIR) + "/tests/cli/data/main.csv").rdbuf();
    text_ = text.str();
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& bytes) const {
    std::string path = folder_ + '/' + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  int run(const std::vector<std::string>& args) {
    out_.str("");
    err_.str("");
    return bench_main(args, out_, err_);
  }

  std::string folder_, text_;
  std::ostringstream out_, err_;
};

TEST_F(PackedFile, IsReadWhateverItIsCalled) {
  const std::string plain = write("plain", text_);
  const std::string gz = write("gz", packed(text_));  // names of the same length would be shown alike
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"summary"}, {"summary", "--run", "newest"}, {"show", "--format", "csv"}, {"runs"}}) {
    const auto with = [&](const std::string& path) {
      std::vector<std::string> all = args;
      all.insert(all.begin() + 1, path);
      if (args[0] == "show") all.insert(all.begin() + 2, "Log.Reads");
      EXPECT_EQ(run(all), 0) << err_.str();
      std::string said = out_.str();
      for (std::size_t at = 0; (at = said.find(path)) != std::string::npos;) said.replace(at, path.size(), "FILE");
      return said;
    };
    EXPECT_EQ(with(gz), with(plain)) << args[0];
  }
  EXPECT_EQ(run({"compare", gz, plain}), 0) << err_.str();
}

TEST_F(PackedFile, StandsInAFolderBesideOthers) {
  write("a.csv.gz", packed(text_));
  write("b.gz", "not ours");
  EXPECT_EQ(run({"summary", folder_}), 0) << err_.str();
  write("c.csv.gz", packed(text_).substr(0, 300));
  EXPECT_EQ(run({"summary", folder_}), 2);
  EXPECT_EQ(err_.str(),
            folder_ + "/c.csv.gz: cannot be read: its gzip data stop before their end; copy or pack it again\n");
}

TEST_F(PackedFile, IsAGoogleBenchmarkFileToo) {
  std::ostringstream json;
  json << std::ifstream(std::string(SYSCOST_SOURCE_DIR) + "/tests/cli/data/google_old.json").rdbuf();
  EXPECT_EQ(run({"summary", write("google.json.gz", packed(json.str()))}), 0) << err_.str();
}

}  // namespace
}  // namespace syscost::bench
