// A result file appears whole under its name or not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "scenarios/cli/exit_code.h"
#include "scenarios/cli/output.h"
#include "tests/scenarios/cli_process.h"

namespace traingraph::scenarios::cli {
namespace {

using cli_tests::read_file;
using cli_tests::TemporaryFolder;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(OutputFile, HasItsNameOnlyWhenItIsComplete) {
  const TemporaryFolder folder;
  OutputFile file{folder.file("r.h5"), {}};
  file.write("content");
  EXPECT_THAT(folder.names(), ElementsAre("r.h5.part"));
  file.commit();
  EXPECT_THAT(folder.names(), ElementsAre("r.h5"));
  EXPECT_EQ(read_file(folder.file("r.h5")), "content");
}

TEST(OutputFile, IsNotThereAfterAFailure) {
  const TemporaryFolder folder;
  {
    OutputFile file{folder.file("r.h5"), {}};
    file.write("half");
  }
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(OutputFile, StaysPartialOnlyWhenThatIsAskedFor) {
  const TemporaryFolder folder;
  {
    OutputFile file{folder.file("r.h5"), {.force = false, .keep_partial = true}};
    file.write("half");
  }
  EXPECT_THAT(folder.names(), ElementsAre("r.h5.part"));
  EXPECT_EQ(read_file(folder.file("r.h5.part")), "half");
}

TEST(OutputFile, DoesNotReplaceWithoutForce) {
  const TemporaryFolder folder;
  folder.write("r.h5", "old");
  EXPECT_THROW((OutputFile{folder.file("r.h5"), {}}), UsageError);
  {
    OutputFile file{folder.file("r.h5"), {.force = true, .keep_partial = false}};
    file.write("new");
    EXPECT_EQ(read_file(folder.file("r.h5")), "old");
    file.commit();
  }
  EXPECT_EQ(read_file(folder.file("r.h5")), "new");
}

TEST(OutputFile, DoesNotReplaceWhatAppearedMeanwhile) {
  const TemporaryFolder folder;
  {
    OutputFile file{folder.file("r.h5"), {}};
    file.write("new");
    folder.write("r.h5", "another's");
    EXPECT_THROW(file.commit(), UsageError);
  }
  EXPECT_THAT(folder.names(), ElementsAre("r.h5"));
  EXPECT_EQ(read_file(folder.file("r.h5")), "another's");
}

TEST(OutputFile, AnImpossiblePlaceIsFoundBeforeTheRun) {
  const TemporaryFolder folder;
  EXPECT_THROW((OutputFile{folder.path(), {}}), UsageError);
  EXPECT_THROW((OutputFile{folder.file("none/r.h5"), {}}), UsageError);
  EXPECT_THROW((OutputFile{"/dev/null", {.force = true, .keep_partial = false}}), UsageError);
  // A name that no file system takes; works for root too, whom permissions do not stop.
  EXPECT_THROW((OutputFile{folder.file(std::string(254, 'x')), {}}), EnvironmentError);
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(OutputFile, ProvingLeavesNothingBehind) {
  const TemporaryFolder folder;
  prove_writable(folder.file("r.h5"), {});
  EXPECT_THAT(folder.names(), IsEmpty());
  folder.write("r.h5", "old");
  EXPECT_THROW(prove_writable(folder.file("r.h5"), {}), UsageError);
  prove_writable(folder.file("r.h5"), {.force = true, .keep_partial = false});
  EXPECT_THAT(folder.names(), ElementsAre("r.h5"));
  EXPECT_EQ(read_file(folder.file("r.h5")), "old");
}

}  // namespace
}  // namespace traingraph::scenarios::cli
