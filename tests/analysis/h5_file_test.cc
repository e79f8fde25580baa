// The HDF5 door: what is written comes back through the C API; same calls give the same bytes; a failure leaves nothing.
#include "analysis/h5_file.h"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "sim/error.h"
#include "tests/analysis/support.h"

namespace traingraph::analysis {
namespace {

using testing::read_bytes;
using testing::ScratchDirectory;

constexpr std::uint64_t kRows = 40'000;  // more than two chunks

const std::vector<Column> kColumns{
    {"id", ColumnType::uint64}, {"name", ColumnType::text, 8}, {"value", ColumnType::float64}, {"delta", ColumnType::int32}};

void write_sample(const std::string& path) {
  H5File file{path, false};
  file.attribute("/", "schema_version", std::string{"1.0"});
  file.attribute("/", "scenario", std::string(100'000, 'y'));  // longer than an object header may be
  file.scalar("/summary/step_time_s", 1.25);
  file.attribute("/summary/step_time_s", "units", std::string{"s"});
  file.scalar("/summary/fabric", std::string{"star"});
  H5Table t = file.table("/deep/table", kColumns);
  for (std::uint64_t i = 0; i < kRows; ++i) {
    t.put(i);
    t.put(std::string_view{"row"});
    t.put(0.5 * static_cast<double>(i));
    t.put(-static_cast<std::int32_t>(i));
    t.end_row();
  }
  t.finish();
  const std::vector<float> load{0, 0.25F, 0.5F, 1, 0.75F, 0};
  file.matrix("/links/load", load, 2, 3);
  file.commit();
}

TEST(H5File, ATableComesBackAsItWasWritten) {
  const ScratchDirectory dir;
  write_sample(dir.file("a.h5"));
  const hid_t file = H5Fopen(dir.file("a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  const hid_t table = H5Dopen2(file, "/deep/table", H5P_DEFAULT);
  ASSERT_GE(table, 0);

  const hid_t properties = H5Dget_create_plist(table);
  EXPECT_EQ(H5Pget_layout(properties), H5D_CHUNKED);
  EXPECT_EQ(H5Pget_nfilters(properties), 2);  // shuffle, deflate
  H5Pclose(properties);

  struct Row {
    std::uint64_t id;
    double value;
    std::int32_t delta;
    char name[8];
  };
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, 8);
  H5Tset_cset(text, H5T_CSET_UTF8);
  const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(Row));
  H5Tinsert(type, "id", HOFFSET(Row, id), H5T_NATIVE_UINT64);
  H5Tinsert(type, "value", HOFFSET(Row, value), H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "delta", HOFFSET(Row, delta), H5T_NATIVE_INT32);
  H5Tinsert(type, "name", HOFFSET(Row, name), text);
  std::vector<Row> rows(kRows);
  ASSERT_GE(H5Dread(table, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()), 0);
  for (std::uint64_t i = 0; i < kRows; ++i) {
    ASSERT_EQ(rows[i].id, i);
    ASSERT_EQ(rows[i].value, 0.5 * static_cast<double>(i));
    ASSERT_EQ(rows[i].delta, -static_cast<std::int32_t>(i));
    ASSERT_STREQ(rows[i].name, "row");
  }
  double step_time = 0;
  const hid_t scalar = H5Dopen2(file, "/summary/step_time_s", H5P_DEFAULT);
  ASSERT_GE(H5Dread(scalar, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &step_time), 0);
  EXPECT_EQ(step_time, 1.25);
  float load[6];
  const hid_t matrix = H5Dopen2(file, "/links/load", H5P_DEFAULT);
  ASSERT_GE(H5Dread(matrix, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, load), 0);
  EXPECT_EQ(load[3], 1);
  for (const hid_t dataset : {table, scalar, matrix}) H5Dclose(dataset);
  for (const hid_t t : {type, text}) H5Tclose(t);
  H5Fclose(file);
}

// Written more than a second apart: no time of day is in the file.
TEST(H5File, TwoWritesGiveTheSameBytes) {
  const ScratchDirectory dir;
  write_sample(dir.file("a.h5"));
  std::this_thread::sleep_for(std::chrono::milliseconds{1100});
  write_sample(dir.file("b.h5"));
  const std::string a = read_bytes(dir.file("a.h5"));
  EXPECT_GT(a.size(), 1000U);
  EXPECT_TRUE(a == read_bytes(dir.file("b.h5")));
}

TEST(H5File, TheNameAppearsOnlyWhenTheFileIsComplete) {
  const ScratchDirectory dir;
  {
    H5File file{dir.file("a.h5"), false};
    file.scalar("/x", 1.0);
    EXPECT_EQ(dir.names(), std::vector<std::string>{"a.h5.part"});
    file.commit();
    EXPECT_EQ(dir.names(), std::vector<std::string>{"a.h5"});
  }
  EXPECT_EQ(dir.names(), std::vector<std::string>{"a.h5"});
}

TEST(H5File, AFileThatIsGivenUpLeavesNothingAndSparesTheOldOne) {
  const ScratchDirectory dir;
  std::ofstream{dir.file("a.h5")} << "old";
  try {
    H5File file{dir.file("a.h5"), false};
    H5Table t = file.table("/t", kColumns);
    t.put(std::uint64_t{1});
    throw sim::Cancelled{};
  } catch (const sim::Cancelled&) {
  }
  EXPECT_EQ(dir.names(), std::vector<std::string>{"a.h5"});
  EXPECT_EQ(read_bytes(dir.file("a.h5")), "old");
}

TEST(H5File, KeepPartialLeavesAReadablePart) {
  const ScratchDirectory dir;
  {
    H5File file{dir.file("a.h5"), true};
    file.scalar("/x", 1.0);
  }
  EXPECT_EQ(dir.names(), std::vector<std::string>{"a.h5.part"});
  EXPECT_GT(H5Fis_hdf5(dir.file("a.h5.part").c_str()), 0);
}

TEST(H5File, AMissingDirectoryIsNamedWithTheReason) {
  const ScratchDirectory dir;
  try {
    H5File file{dir.file("nowhere/a.h5"), false};
    FAIL() << "the directory does not exist";
  } catch (const FileError& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("nowhere/a.h5"), std::string::npos) << what;
    EXPECT_NE(what.find("No such file or directory"), std::string::npos) << what;
  }
}

// A disk that is full after 64 KiB: the write fails with an exception, and nothing stays behind. In a child process, because
// the limit cannot be lifted again.
TEST(H5FileDeathTest, AFullDiskIsAnErrorAndLeavesNothing) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const ScratchDirectory dir;
  const auto fill = [&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{65536, 65536};
    setrlimit(RLIMIT_FSIZE, &small);
    try {
      H5File file{dir.file("a.h5"), false};
      H5Table t = file.table("/t", {{"noise", ColumnType::uint64}});
      for (std::uint64_t i = 0; i < 500'000; ++i) {
        t.put(i * i * 0x9e3779b97f4a7c15U);  // does not compress
        t.end_row();
      }
      t.finish();
      file.commit();
    } catch (const FileError& e) {
      std::fprintf(stderr, "FileError: %s\n", e.what());
      std::fprintf(stderr, "%zu files left\n", dir.names().size());
      std::_Exit(4);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(fill(), ::testing::ExitedWithCode(4), "FileError: cannot write .*a.h5.*");
  EXPECT_TRUE(dir.names().empty());
}

TEST(H5File, ATextThatDoesNotFitItsColumnIsNeverCut) {
  const ScratchDirectory dir;
  H5File file{dir.file("a.h5"), false};
  H5Table t = file.table("/t", {{"name", ColumnType::text, 3}});
  t.put(std::string_view{"abc"});
  t.end_row();
  EXPECT_THROW(t.put(std::string_view{"abcd"}), sim::InternalError);
}

TEST(H5File, ARowHasItsColumnsInOrder) {
  const ScratchDirectory dir;
  H5File file{dir.file("a.h5"), false};
  H5Table t = file.table("/t", kColumns);
  EXPECT_THROW(t.put(1.0), sim::InternalError);  // the first is an integer
  t.put(std::uint64_t{1});
  EXPECT_THROW(t.end_row(), sim::InternalError);
}

TEST(H5File, CommitRefusesUnfinishedTables) {
  const ScratchDirectory dir;
  H5File file{dir.file("a.h5"), false};
  H5Table t = file.table("/t", kColumns);
  EXPECT_THROW(file.commit(), sim::InternalError);
  t.finish();
  file.commit();
}

}  // namespace
}  // namespace traingraph::analysis
