// The folder of compiled kernels, which processes share and users may damage.
//
//   softgpu_cache_test <scratch folder>
//   softgpu_cache_test load <number>     another process: loads code that returns the number,
//   prints it
//   softgpu_cache_test load_all <number>...    the same for several numbers
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "softgpu/cache_files.hpp"
#include "softgpu/code_cache.hpp"
#include "softgpu/header_folders.hpp"
#include "softgpu/ptx/error.hpp"

namespace softgpu::tests {
namespace {

namespace fs = std::filesystem;

std::string scratch, own_program;

int load_and_print(const std::string& number) {
  try {
    void* const library = load_code(
        "extern \"C\" __attribute__((visibility(\"default\"))) int answer() "
        "{ return " +
            number + "; }\n",
        false);
    const auto answer = reinterpret_cast<int (*)()>(dlsym(library, "answer"));
    std::printf("%d", answer());
    return 0;
  } catch (const PtxError& error) {
    std::printf("%s", error.what());
    return 1;
  }
}

// ---- Another process ---------------------------------------------------------------------------

struct Process {
  std::FILE* output;

  // `errors`: the file for stderr.
  Process(const std::string& cache, int number, const std::string& compiler = "g++",
          const std::string& errors = "/dev/null")
      : output(
            ::popen(("CHIME_SOFTGPU_CXX='" + compiler + "' CHIME_SOFTGPU_CACHE='" + cache + "' '" +
                     own_program + "' load " + std::to_string(number) + " 2>'" + errors + "'")
                        .c_str(),
                    "r")) {}
  Process(const Process&) = delete;

  // Waits for the end; returns the output, and says how the process failed if it did.
  std::string ended() {
    std::string text;
    std::array<char, 512> part;
    while (std::fgets(part.data(), part.size(), output)) text += part.data();
    const int status = ::pclose(output);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
    return (WIFEXITED(status) ? "failed: " : "killed: ") + text;
  }
};
std::string loaded(const std::string& cache, int number) { return Process(cache, number).ended(); }

// ---- The folder --------------------------------------------------------------------------------

class CodeCache : public testing::Test {
 protected:
  // One precompiled vocabulary for all tests: the compiler takes some seconds for it.
  static void SetUpTestSuite() {
    fs::create_directories(cache());
    ASSERT_EQ(loaded(cache(), 41), "41");
  }
  static std::string cache() { return scratch + "/cache"; }
  static void TearDownTestSuite() { fs::remove_all(scratch); }

  void SetUp() override {
    for (const fs::path& library : all(".so")) fs::remove(library);
  }
  static std::vector<fs::path> all(const std::string& extension) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(cache())) {
      if (entry.path().extension() == extension) found.push_back(entry.path());
    }
    return found;
  }
  static fs::path only(const std::string& extension) {
    const auto found = all(extension);
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? fs::path() : found.front();
  }
};

void write(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

TEST_F(CodeCache, ABrokenEntryIsMadeAnew) {
  ASSERT_EQ(loaded(cache(), 42), "42");
  const fs::path library = only(".so");
  const auto bytes = fs::file_size(library);
  const std::string whole = content_of(library);
  for (const std::string& broken :
       {std::string(), std::string("no library"), whole.substr(0, 40), whole.substr(0, bytes / 2),
        whole.substr(0, bytes - 1), std::string(bytes, '\0')}) {
    write(library, broken);
    EXPECT_EQ(loaded(cache(), 42), "42") << "with " << broken.size() << " of " << bytes << " bytes";
    EXPECT_EQ(content_of(library).size(), bytes);
  }
}

// Each set of options has separate code and a separate vocabulary; a refusal has the compiler's
// message.
TEST_F(CodeCache, MoreOptionsOfTheCompilerCount) {
  const auto loaded_with = [&](const std::string& flags) {
    ::setenv("CHIME_SOFTGPU_CXXFLAGS", flags.c_str(), 1);
    const std::string text = loaded(scratch + "/options", 42);
    ::unsetenv("CHIME_SOFTGPU_CXXFLAGS");
    return text;
  };
  EXPECT_EQ(loaded_with("-Og  -fno-inline"), "42");
  EXPECT_EQ(loaded_with(""), "42");
  std::size_t libraries = 0;
  for (const auto& entry : fs::directory_iterator(scratch + "/options")) {
    libraries += entry.path().extension() == ".so";
  }
  EXPECT_EQ(libraries, 2u);
  const std::string refused = loaded_with("-Og -fno-such-option");
  EXPECT_EQ(refused.rfind("failed: ", 0), 0u) << refused;
  EXPECT_NE(refused.find("-fno-such-option"), refused.npos) << refused;
}

TEST_F(CodeCache, ABrokenVocabularyIsMadeAnew) {
  const fs::path compiled = only(".gch");
  const auto bytes = fs::file_size(compiled);
  for (const auto left : {bytes / 2, bytes / 100}) {
    SetUp();
    fs::resize_file(compiled, left);
    EXPECT_EQ(loaded(cache(), 42), "42") << "with " << left << " of " << bytes << " bytes";
    EXPECT_GT(fs::file_size(compiled), bytes / 10 * 9);
  }
}

TEST_F(CodeCache, TwoProcessesThatBuildAtOnceBuildOnce) {
  const std::string compiler = scratch + "/slow-g++", calls = scratch + "/calls";
  write(compiler, "#!/bin/sh\necho call >>'" + calls + "'\nsleep 1\nexec g++ \"$@\"\n");
  fs::permissions(compiler, fs::perms::owner_all);
  const std::string folder = scratch + "/shared";
  Process first(folder, 42, compiler), second(folder, 42, compiler);
  EXPECT_EQ(first.ended(), "42");
  EXPECT_EQ(second.ended(), "42");
  EXPECT_EQ(content_of(calls), "call\ncall\n") << "one of the vocabulary, one of the code";
  fs::remove_all(folder);
}

// Another copy of the sources finds compiled code again, but not one with other headers.
TEST(CacheKey, IsOfWhatIsIncludedAndNotOfItsPlace) {
  const auto key = [](const std::string& deep, const std::string& other, const std::string& place) {
    const std::string a = scratch + place + "/a", b = scratch + place + "/b";
    for (const std::string& folder : {a + "/x", b + "/y"}) fs::create_directories(folder);
    write(a + "/x/first.hpp", "#include <vector>\n#include \"y/second.hpp\"\n");
    write(b + "/y/second.hpp", "#include \"x/first.hpp\"\n#include \"y/third.hpp\"\n");
    write(b + "/y/third.hpp", deep);
    write(b + "/y/other.hpp", other);
    const std::string key = fingerprint_of_headers({a, b}, "x/first.hpp");
    fs::remove_all(scratch + place);
    return key;
  };
  const std::string first = key("int f();\n", "", "/here");
  EXPECT_EQ(key("int f();\n", "", "/there"), first);
  EXPECT_EQ(key("int f();\n", "int g();\n", "/here"), first) << "no file includes it";
  EXPECT_NE(key("long f();\n", "", "/here"), first);
  EXPECT_THROW(fingerprint_of_headers({scratch}, "x/first.hpp"), PtxError);
}

// A first launch without output for half a minute looks like a program that hangs.
TEST_F(CodeCache, ASlowCompilerIsReportedOnceWithTheFolder) {
  const std::string compiler = scratch + "/slow-g++", errors = scratch + "/errors";
  write(compiler, "#!/bin/sh\nsleep 2.5\nexec g++ \"$@\"\n");
  fs::permissions(compiler, fs::perms::owner_all);
  const std::string folder = scratch + "/told";
  ASSERT_EQ(Process(folder, 42, compiler, errors).ended(), "42");
  const std::string told = content_of(errors);
  EXPECT_NE(told.find("compiling this program's kernels"), told.npos) << told;
  EXPECT_NE(told.find(fs::canonical(folder).string()), told.npos) << told;
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1)
      << "of the vocabulary's compilation and of the code's, once: " << told;

  ASSERT_EQ(Process(folder, 42, compiler, errors).ended(), "42");
  EXPECT_EQ(content_of(errors), "") << "what is kept takes no time";
  ::setenv("CHIME_RUN_PE", "1", 1);
  ASSERT_EQ(Process(folder, 43, compiler, errors).ended(), "43");
  ::unsetenv("CHIME_RUN_PE");
  EXPECT_EQ(content_of(errors), "") << "the job's first PE says it";
  fs::remove_all(folder);
}

TEST_F(CodeCache, ManyQuickCompilationsThatTakeLongTogetherAreReported) {
  const std::string errors = scratch + "/errors", compiler = scratch + "/copier";
  // Each compilation takes 0.8 s, and makes the same library.
  ASSERT_EQ(loaded(cache(), 42), "42");
  write(compiler,
        "#!/bin/sh\nsleep 0.8\nwhile [ $# -gt 1 ] && [ \"$1\" != -o ]; do shift; done\n"
        "cp '" +
            only(".so").string() + "' \"$2\"\n");
  fs::permissions(compiler, fs::perms::owner_all);
  const std::string command = "CHIME_SOFTGPU_CXX='" + compiler + "' CHIME_SOFTGPU_CACHE='" +
                              scratch + "/sum' '" + own_program +
                              "' load_all 1 2 3 4 >/dev/null 2>'" + errors + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const std::string told = content_of(errors);
  EXPECT_NE(told.find("compiling this program's kernels"), told.npos) << told;
  fs::remove_all(scratch + "/sum");
}

// Sizes and ages of the entries; files other than libraries and vocabularies are left alone.
TEST(CacheBound, CountsVocabulariesAndRemovesWhatWasUsedFirst) {
  const fs::path folder = scratch + "/bound";
  const auto now = fs::file_time_type::clock::now();
  const auto make = [&](const std::string& name, std::size_t bytes, int seconds_ago) {
    fs::create_directories((folder / name).parent_path());
    write(folder / name, std::string(bytes, 'x'));
    fs::last_write_time(folder / name, now - std::chrono::seconds(seconds_ago));
  };
  make("vocabulary.old/vocabulary.hpp", 10, 50);
  make("vocabulary.old/vocabulary.hpp.gch", 600, 40);
  make("old.so", 100, 30);
  make("vocabulary.used/vocabulary.hpp", 10, 60);
  make("vocabulary.used/vocabulary.hpp.gch", 600, 20);
  make("new.so", 100, 10);
  make("lock.1", 1, 90);
  make("other/file", 5000, 90);
  const auto is_there = [&](const char* name) { return fs::exists(folder / name); };

  remove_oldest(folder, 1420);
  EXPECT_TRUE(is_there("vocabulary.old")) << "all of it is not too much";
  remove_oldest(folder, 1419);
  EXPECT_FALSE(is_there("vocabulary.old"));
  EXPECT_TRUE(is_there("old.so"));
  remove_oldest(folder, 710);
  EXPECT_FALSE(is_there("old.so"));
  EXPECT_TRUE(is_there("vocabulary.used/vocabulary.hpp.gch")) << "used when its newest file was";
  remove_oldest(folder, 0);
  EXPECT_FALSE(is_there("vocabulary.used"));
  EXPECT_FALSE(is_there("new.so"));
  EXPECT_TRUE(is_there("lock.1"));
  EXPECT_TRUE(is_there("other/file"));
  fs::remove_all(folder);
}

// A prefix with this folder of libraries, and one with headers if they are named.
std::string library_in_prefix(const std::string& name, const std::string& libraries,
                              const std::string& headers) {
  const fs::path prefix = fs::path(scratch) / "prefixes" / name;
  fs::remove_all(prefix);
  fs::create_directories(prefix / libraries);
  if (!headers.empty()) {
    const fs::path header = prefix / headers / kVocabularyHeader;
    fs::create_directories(header.parent_path());
    std::ofstream(header) << "\n";
  }
  return (prefix / libraries / "libsoftgpu.so").string();
}

bool are_those_of(const std::vector<std::string>& folders, const std::string& name) {
  return folders.size() == 1 &&
         fs::canonical(folders.front()) == fs::path(scratch) / "prefixes" / name / "include";
}

// Seen: a prefix whose libraries lie in a folder of their architecture, as Debian's, had the
// headers, and the library took those that it was built with.
TEST(HeaderFolders, AreThoseInstalledWithTheLibraryWhereverItsFolderLies) {
  const std::string layouts = "../../include:../include", built = "/no/such/build";
  EXPECT_TRUE(
      are_those_of(header_folders(library_in_prefix("debian", "lib/aarch64-linux-gnu", "include"),
                                  layouts, built),
                   "debian"));
  EXPECT_TRUE(are_those_of(
      header_folders(library_in_prefix("wheel", "lib", "include"), layouts, built), "wheel"));
}

TEST(HeaderFolders, AreThoseOfTheBuildIfNoneAreInstalled) {
  const std::string library = library_in_prefix("bare", "lib", "");
  const std::string built =
      fs::path(library_in_prefix("built", "include", "include")).parent_path().string();
  EXPECT_EQ(header_folders(library, "../include", "/no/such/folder:" + built),
            (std::vector<std::string>{"/no/such/folder", built}));
  try {
    header_folders(library, "../../include:../include", "/no/such/build");
    ADD_FAILURE() << "headers are found that are not there";
  } catch (const PtxError& error) {
    const std::string said = error.what();
    for (const char* folder : {"bare/lib/../../include", "bare/lib/../include", "/no/such/build"})
      EXPECT_NE(said.find(folder), std::string::npos) << said;
  }
}

TEST(CacheFolder, OneThatCannotBeWrittenIsSaid) {
  const std::string told = loaded("/dev/null/kernels", 42);
  EXPECT_EQ(told.find("failed: "), 0u) << told;
  EXPECT_NE(told.find("/dev/null/kernels"), told.npos) << told;
  EXPECT_NE(told.find("CHIME_SOFTGPU_CACHE names another one"), told.npos) << told;
  if (::geteuid() == 0) return;  // root may write anywhere
  const std::string folder = scratch + "/closed";
  fs::create_directories(folder);
  fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_NE(loaded(folder, 42).find("cannot be written"), std::string::npos);
  fs::remove_all(folder);
}

}  // namespace

int run_tests(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  own_program = fs::canonical("/proc/self/exe").string();
  scratch = argc > 1 ? argv[1] : "cache_test.scratch";
  fs::remove_all(scratch);
  fs::create_directories(scratch);
  scratch = fs::canonical(scratch).string();
  return RUN_ALL_TESTS();
}

}  // namespace softgpu::tests

int main(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == "load_all") {
    int failed = 0;
    for (int i = 2; i < argc; ++i) failed |= softgpu::tests::load_and_print(argv[i]);
    return failed;
  }
  if (argc == 3 && std::string(argv[1]) == "load") return softgpu::tests::load_and_print(argv[2]);
  return softgpu::tests::run_tests(argc, argv);
}
