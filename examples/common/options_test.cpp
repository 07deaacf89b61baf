// Values of options are taken whole, or refused.
#include "common/options.hpp"

#include <gtest/gtest.h>

namespace examples {
namespace {

TEST(ExamplesOptions, NumbersAreDigitsWithinBounds) {
  int number = 7;
  for (const char* const wrong : {"", "x", "12x", " 12", "1.5", "0", "101", "99999999999"})
    EXPECT_FALSE(parse_number(wrong, 1, 100, &number)) << wrong;
  EXPECT_EQ(number, 7);
  EXPECT_TRUE(parse_number("100", 1, 100, &number));
  EXPECT_EQ(number, 100);
}

TEST(ExamplesOptions, ListsOfNumbersHaveNoGaps) {
  std::vector<int> numbers = {7};
  for (const char* const wrong : {"", ",", "1,", ",1", "1,,2", "1,x"})
    EXPECT_FALSE(parse_numbers(wrong, 1, 100, &numbers)) << wrong;
  EXPECT_EQ(numbers, std::vector<int>{7});
  EXPECT_TRUE(parse_numbers("16,64,2", 1, 100, &numbers));
  EXPECT_EQ(numbers, (std::vector<int>{16, 64, 2}));
}

TEST(ExamplesOptions, NamesAreKnownAndOnce) {
  std::vector<std::string> names;
  for (const char* const wrong : {"", "nic", "host,", "host,host", "Host"})
    EXPECT_FALSE(parse_names(wrong, {"device", "host"}, &names)) << wrong;
  EXPECT_TRUE(parse_names("host,device", {"device", "host"}, &names));
  EXPECT_EQ(names, (std::vector<std::string>{"host", "device"}));
}

TEST(ExamplesOptions, PicturesAreOfKnownFormats) {
  std::string path;
  for (const char* const wrong : {"", "png", "a.gif", "a.png.txt"})
    EXPECT_FALSE(parse_picture(wrong, &path)) << wrong;
  for (const char* const right : {"a.png", "b/c d.PDF", "e.svg"}) {
    EXPECT_TRUE(parse_picture(right, &path)) << right;
    EXPECT_EQ(path, right);
  }
}

}  // namespace
}  // namespace examples
