// SHA-256, HMAC and HKDF against published vectors; tokens.
#include "net/secure/secret.hpp"

#include <gtest/gtest.h>

#include "net/socket/error.hpp"

namespace chime::net {
namespace {

Bytes from_hex(std::string_view hex) {
  Bytes bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes.push_back(std::byte(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

TEST(Sha256, GivesFips180Vectors) {
  EXPECT_EQ(to_hex(sha256(bytes_of(""))),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256(bytes_of("abc"))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256(bytes_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(to_hex(sha256(bytes_of(std::string(1'000'000, 'a')))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Around the lengths at which the padding needs another block.
TEST(Sha256, GivesTheSameHoweverTheMessageIsCut) {
  for (const std::size_t length : {55, 56, 63, 64, 65, 119, 120, 128, 1000}) {
    const std::string message(length, 'x');
    for (std::size_t cut = 0; cut <= length; cut += 7)
      EXPECT_EQ(Sha256()
                    .add(bytes_of(std::string_view(message).substr(0, cut)))
                    .add(bytes_of(std::string_view(message).substr(cut)))
                    .finish(),
                sha256(bytes_of(message)))
          << length << " cut at " << cut;
  }
}

TEST(HmacSha256, GivesRfc4231Vectors) {
  EXPECT_EQ(to_hex(hmac_sha256(bytes_of(std::string(20, '\x0b')), bytes_of("Hi There"))),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(to_hex(hmac_sha256(bytes_of("Jefe"), bytes_of("what do ya want for nothing?"))),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(to_hex(hmac_sha256(bytes_of(std::string(131, '\xaa')),
                               bytes_of("Test Using Larger Than Block-Size Key - Hash Key First"))),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Hkdf, GivesRfc5869Vectors) {
  const auto first = hkdf_extract(from_hex("000102030405060708090a0b0c"), Bytes(22, std::byte{11}));
  EXPECT_EQ(to_hex(first), "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5");
  EXPECT_EQ(to_hex(hkdf_expand(first, from_hex("f0f1f2f3f4f5f6f7f8f9"), 42)),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865");
  const auto third = hkdf_extract({}, Bytes(22, std::byte{11}));
  EXPECT_EQ(to_hex(hkdf_expand(third, {}, 42)),
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8");
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
    } catch (const Error& e) {
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
}  // namespace chime::net
