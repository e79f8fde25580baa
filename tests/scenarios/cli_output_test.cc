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

TEST(OutputFile, MadeAndDroppedLeavesNothingBehind) {
  const TemporaryFolder folder;
  folder.write("r.h5", "old");
  EXPECT_THROW((OutputFile{folder.file("r.h5"), {}}), UsageError);
  { const OutputFile dropped{folder.file("r.h5"), {.force = true, .keep_partial = true}}; }
  EXPECT_THAT(folder.names(), ElementsAre("r.h5")) << "an empty part is not worth keeping";
  EXPECT_EQ(read_file(folder.file("r.h5")), "old");
}

// Two runs to one name: the second is told so, and takes nothing from the first. A part that a dead run left is no obstacle.
TEST(OutputFile, BelongsToOneRunAtATime) {
  const TemporaryFolder folder;
  folder.write("r.h5.part", "left by a run that was killed");
  {
    OutputFile first{folder.file("r.h5"), {}};
    first.write("first");
    try {
      const OutputFile second{folder.file("r.h5"), {.force = true, .keep_partial = false}};
      FAIL();
    } catch (const UsageError& e) {
      EXPECT_EQ(e.what(), folder.file("r.h5.part") + ": another run is writing to it");
    }
    EXPECT_EQ(read_file(folder.file("r.h5.part")), "first");
    first.commit();
    // The name of the part is free again, and `first` has no claim on who takes it.
    OutputFile third{folder.file("r.h5"), {.force = true, .keep_partial = false}};
    third.write("third");
    third.commit();
  }
  EXPECT_EQ(read_file(folder.file("r.h5")), "third");
  EXPECT_THAT(folder.names(), ElementsAre("r.h5"));
}

// A link would be replaced, or followed to a place that was not named: neither is guessed, with --force or without.
TEST(OutputFile, RefusesSymbolicLinks) {
  const TemporaryFolder folder;
  folder.write("there.h5", "old");
  std::filesystem::create_symlink(folder.file("there.h5"), folder.file("link.h5"));
  std::filesystem::create_symlink(folder.file("nowhere"), folder.file("dangling.h5"));
  for (const bool force : {false, true}) {
    for (const char* name : {"link.h5", "dangling.h5"}) {
      try {
        const OutputFile file{folder.file(name), {.force = force, .keep_partial = false}};
        FAIL() << name;
      } catch (const UsageError& e) {
        EXPECT_EQ(e.what(), folder.file(name) + ": is a symbolic link; name the file itself");
      }
    }
    EXPECT_THROW((OutputFile{folder.path(), {.force = force, .keep_partial = false}}), UsageError);
  }
  EXPECT_EQ(read_file(folder.file("there.h5")), "old");
}

}  // namespace
}  // namespace traingraph::scenarios::cli
