// Files of a machine, as checks read them.
#include "host/diagnosis/root.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace chime::doctor {
namespace {

TEST(Root, TextIsWithoutBlanksAndZeroBytesAtItsEnd) {
  char name[] = "/tmp/chime-root-XXXXXX";
  const std::filesystem::path folder = ::mkdtemp(name);
  const Root root(folder);
  const auto text_of = [&](std::string_view bytes) {
    std::ofstream(folder / "file").write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return root.text("/file");
  };
  EXPECT_EQ(text_of("0x10de \t\n"), "0x10de");
  EXPECT_EQ(text_of({"arm64\0", 6}), "arm64");
  EXPECT_EQ(text_of({"arm64\0\n\0", 8}), "arm64");
  EXPECT_EQ(text_of({"two\0words\0", 10}), std::string("two\0words", 9));
  EXPECT_EQ(text_of({"\0\n", 2}), "");
  EXPECT_EQ(root.text("/no-such-file"), std::nullopt);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace chime::doctor
