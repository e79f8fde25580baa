// `traingraph import` as its users meet it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/scenarios/cli_process.h"

namespace traingraph::scenarios {
namespace {

using cli_tests::execute;
using cli_tests::Finished;
using cli_tests::TemporaryFolder;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kData = std::string{TRAINGRAPH_TEST_DATA} + "/import/";

TEST(CliImport, WritesAClusterThatTopoShowReads) {
  const TemporaryFolder folder;
  const std::string out = folder.file("cluster.yaml");
  const Finished import = execute({"import", "auto", kData + "b200x8_gcp_a4.txt", "--set", "nodes=2", "-o", out});
  ASSERT_EQ(import.code, 0) << import.err;
  EXPECT_THAT(import.out, HasSubstr("16 GPUs, 2 nodes"));
  EXPECT_THAT(import.err, HasSubstr("speed of the NICs: not in the file"));
  EXPECT_EQ(execute({"topo", "show", out}).out, import.out);
  EXPECT_EQ(execute({"import", "auto", kData + "b200x8_gcp_a4.txt", "-o", out}).code, 2) << "exists already";
  const Finished quiet = execute({"import", "nvidia_smi", kData + "b200x8_gcp_a4.txt", "--quiet"});
  EXPECT_EQ(quiet.err, "");
  EXPECT_THAT(quiet.out, HasSubstr("cluster:\n  name: b200x8_gcp_a4.txt\n"));
}

TEST(CliImport, RefusesWhatItCannotRead) {
  const Finished matrix = execute({"import", "auto", kData + "p2p_matrix_stas_debug.txt"});
  EXPECT_EQ(matrix.code, 2);
  EXPECT_EQ(matrix.err, kData + "p2p_matrix_stas_debug.txt:1:1: this is `nvidia-smi topo -p2p` output\n");
  const Finished wrong = execute({"import", "slurm", kData + "Ring.yml"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("this looks like an ASTRA-sim network (astra_sim), not a Slurm topology (slurm)"));
  EXPECT_THAT(execute({"import", "slurmm", "x"}).err,
              StartsWith("traingraph: import: unknown kind 'slurmm'; did you mean 'slurm'?"));
  EXPECT_THAT(execute({"import", "topo.xml"}).err, HasSubstr("did you mean `traingraph import auto topo.xml`?"));
  EXPECT_EQ(execute({"import", "auto", "no/such/file"}).code, 2);
}

TEST(CliImport, RefusesFilesOver64MiBByNameAndSize) {
  const TemporaryFolder folder;
  const std::string name = folder.write("big.xml", "<system>");
  std::filesystem::resize_file(name, 67108865);  // sparse
  const Finished big = execute({"import", "nccl_xml", name});
  EXPECT_EQ(big.code, 2);
  EXPECT_THAT(big.err, HasSubstr(name + ": 67108865 bytes; a file to import may have at most 67108864 bytes (64 MiB)"));
}

}  // namespace
}  // namespace traingraph::scenarios
