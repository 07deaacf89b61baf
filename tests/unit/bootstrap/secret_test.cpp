// SHA-256 and HMAC against published vectors; tokens.
#include "bootstrap/secret.hpp"

#include <gtest/gtest.h>

#include "bootstrap/bootstrap.hpp"

namespace chime::bootstrap {
namespace {

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(Sha256, GivesFips180Vectors) {
  EXPECT_EQ(to_hex(sha256(bytes(""))),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256(bytes("abc"))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256(bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(to_hex(sha256(bytes(std::string(1'000'000, 'a')))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(HmacSha256, GivesRfc4231Vectors) {
  EXPECT_EQ(to_hex(hmac_sha256(bytes(std::string(20, '\x0b')), bytes("Hi There"))),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(to_hex(hmac_sha256(bytes("Jefe"), bytes("what do ya want for nothing?"))),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(to_hex(hmac_sha256(bytes(std::string(131, '\xaa')),
                               bytes("Test Using Larger Than Block-Size Key - Hash Key First"))),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Token, SurvivesHexadecimalAndDiffersEachTime) {
  const auto token = random_token();
  EXPECT_EQ(token_from_hex(to_hex(token), "T"), token);
  EXPECT_NE(token, random_token());
}

TEST(Token, RejectsWhatIsNotOneAndNamesIt) {
  for (std::string bad :
       {std::string(), std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'g')}) {
    try {
      token_from_hex(bad, "CHIME_RUN_TOKEN");
      FAIL() << "accepted '" << bad << "'";
    } catch (const BootstrapError& e) {
      EXPECT_NE(std::string(e.what()).find("CHIME_RUN_TOKEN"), std::string::npos);
    }
  }
}

TEST(ConstantTimeCompare, SeesEveryDifference) {
  const auto a = random_token(), b = a;
  EXPECT_TRUE(equal_in_constant_time(a, b));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      auto other = a;
      other[i] ^= std::byte(1 << bit);
      EXPECT_FALSE(equal_in_constant_time(a, other)) << "bit " << bit << " of byte " << i;
    }
  EXPECT_FALSE(equal_in_constant_time(a, std::span(a).first(31)));
}

}  // namespace
}  // namespace chime::bootstrap
