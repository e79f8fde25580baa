#include "scenarios/yaml_reader.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace traingraph::scenarios {
namespace {

const Origin kPlace{OriginKind::file, "s.yaml", 0, 0};

struct Reading {
  Value root;
  std::string errors;
};

Reading read(std::string_view text) {
  Diagnostics d;
  Value root = read_yaml(text, kPlace, d);
  return {std::move(root), d.text()};
}

TEST(YamlReader, KeepsThePlaceOfEveryKeyAndValue) {
  const Reading r = read("a: 1\nb:\n  c: [x, y]\n");
  ASSERT_EQ(r.errors, "");
  const Entry* const b = r.root.find("b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(to_string(b->key_origin), "s.yaml:2:1");
  const Entry* const c = b->value.find("c");
  ASSERT_NE(c, nullptr);
  EXPECT_EQ(to_string(c->key_origin), "s.yaml:3:3");
  ASSERT_EQ(c->value.items.size(), 2U);
  EXPECT_EQ(to_string(c->value.items[1].origin), "s.yaml:3:10");
  EXPECT_EQ(c->value.items[1].text, "y");
}

// Whether `010` is 8 and `yes` is true is for the key to decide that reads them; the text stays.
TEST(YamlReader, LeavesScalarsAsTheyAreWritten) {
  const Reading r = read("a: 010\nb: yes\nc: 1e3\nd: \"8\"\ne: 0x10\n");
  ASSERT_EQ(r.errors, "");
  EXPECT_EQ(r.root.find("a")->value.text, "010");
  EXPECT_EQ(r.root.find("b")->value.text, "yes");
  EXPECT_EQ(r.root.find("c")->value.text, "1e3");
  EXPECT_FALSE(r.root.find("c")->value.quoted);
  EXPECT_TRUE(r.root.find("d")->value.quoted);
  EXPECT_EQ(r.root.find("e")->value.text, "0x10");
}

TEST(YamlReader, AliasesAreCopiesOfTheirAnchor) {
  const Reading r = read("a: &x {k: 1}\nb: *x\n");
  ASSERT_EQ(r.errors, "");
  EXPECT_EQ(r.root.find("b")->value.find("k")->value.text, "1");
}

TEST(YamlReader, RefusesWhatYamlWouldAcceptInSilence) {
  EXPECT_EQ(read("a: 1\na: 2\n").errors, "s.yaml:2:1: key 'a' is given twice; the first is at line 1");
  EXPECT_EQ(read("a: {k: 1, k: 2}\n").errors, "s.yaml:1:11: key 'k' is given twice; the first is at line 1");
  EXPECT_EQ(read("a: &x {k: 1}\nb: {<<: *x}\n").errors,
            "s.yaml:2:5: merge keys ('<<') are not supported; write the keys out, or use a preset");
  EXPECT_EQ(read("[a]: 1\n").errors, "s.yaml:1:1: a key must be a word, found a list");
  EXPECT_EQ(read("a: !!int 3\n").errors,
            "s.yaml:1:4: tags ('tag:yaml.org,2002:int') are not supported; write the value alone");
  EXPECT_EQ(read("a: 1\n---\nb: 2\n").errors, "s.yaml: more than one YAML document ('---'); a scenario is one");
}

TEST(YamlReader, ReportsAllRefusedKeysOfAFile) {
  EXPECT_EQ(read("a: 1\na: 2\nb: 1\nb: 2\n").errors,
            "s.yaml:2:1: key 'a' is given twice; the first is at line 1\n"
            "s.yaml:4:1: key 'b' is given twice; the first is at line 3");
}

TEST(YamlReader, SyntaxErrorsHaveAPlace) {
  EXPECT_TRUE(read("a: [1, 2\nb: 3\n").errors.starts_with("s.yaml:")) << read("a: [1, 2\nb: 3\n").errors;
  EXPECT_NE(read("a: b: c\n").errors.find("not valid YAML"), std::string::npos);
  EXPECT_NE(read("\ta: 1\n").errors, "");
}

TEST(YamlReader, NothingIsNull) {
  EXPECT_EQ(read("").root.kind, ValueKind::null);
  EXPECT_EQ(read("# only a comment\n").root.kind, ValueKind::null);
  EXPECT_EQ(read("a:\n").root.find("a")->value.kind, ValueKind::null);
  EXPECT_EQ(read("a: ~\n").root.find("a")->value.kind, ValueKind::null);
}

TEST(YamlReader, AliasesCannotExplode) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) text += (k == 0 ? "*a" : ", *a") + std::to_string(i - 1);
    text += "]\n";
  }
  EXPECT_NE(read(text).errors.find("aliases expand to more than 1000000 values"), std::string::npos);
}

TEST(YamlReader, DeepNestingIsAnErrorNotACrash) {
  EXPECT_NE(read(std::string(100000, '[')).errors, "");
  EXPECT_NE(read(std::string(100000, '{')).errors, "");
}

TEST(YamlReader, ControlCharactersAreRefusedWithTheirPlace) {
  using namespace std::string_literals;
  EXPECT_EQ(read("a: 1\nb: x\x01y\n").errors, "s.yaml:2:5: control character 0x01 in the text");
  EXPECT_EQ(read("a\0b: 1\n"s).errors, "s.yaml:1:2: control character 0x00 in the text");
}

TEST(YamlReader, TooManyKeysInOneMap) {
  std::string text;
  for (int i = 0; i < 1001; ++i) text += "k" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(read(text).errors, "s.yaml:1001:1: more than 1000 keys in one map");
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content)
      : path_{std::filesystem::temp_directory_path() / ("traingraph_reader_" + std::to_string(::getpid()) + ".yaml")} {
    std::ofstream{path_, std::ios::binary} << content;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string failure(const std::filesystem::path& path) {
  try {
    static_cast<void>(read_text(path));
  } catch (const sim::InputError& e) {
    return e.what();
  }
  return "";
}

TEST(YamlReader, FilesOverOneMebibyteAreRefusedByNameAndSize) {
  const TemporaryFile fits{std::string(1048576, '#')};
  EXPECT_EQ(read_text(fits.path()).size(), 1048576U);
  const TemporaryFile large{std::string(1048577, '#')};
  EXPECT_EQ(failure(large.path()),
            large.path().string() + ": 1048577 bytes; a scenario file may have at most 1048576 bytes (1 MiB)");
}

TEST(YamlReader, MissingFilesAndFoldersAreNamed) {
  EXPECT_EQ(failure("/nowhere/s.yaml"), "/nowhere/s.yaml: cannot be read: No such file or directory");
  EXPECT_EQ(failure("/"), "/: is a directory, not a file");
}

// Whatever the text, the reader returns; every complaint begins with the file's name, and a text is read the same way twice.
RC_GTEST_PROP(YamlReader, AnyTextIsReadOrRefusedInOrder, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string{"ab:-[]{}&*!|>'\"#%@`, \n\t?~01"}));
  const Reading r = read(text);
  RC_ASSERT(r.errors.empty() || r.errors.starts_with("s.yaml"));
  RC_ASSERT(r.errors == read(text).errors);
}

}  // namespace
}  // namespace traingraph::scenarios
