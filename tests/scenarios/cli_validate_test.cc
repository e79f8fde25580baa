// `traingraph validate theory`: a small part of it on every build. What it says stands in the report; here only that it
// passes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenarios/cli_process.h"

namespace traingraph::scenarios {
namespace {

using cli_tests::execute;
using cli_tests::Finished;
using testing::HasSubstr;

TEST(CliValidate, TheoryHoldsInItsSmokeTest) {
  const Finished done = execute({"validate", "theory", "--smoke"});
  EXPECT_EQ(done.code, 0) << done.err << done.out;
  EXPECT_THAT(done.out, HasSubstr("40 random scenarios (seeds 1 to "));
  EXPECT_THAT(done.out, HasSubstr(": 0 violated"));
  EXPECT_THAT(done.out, HasSubstr("| (M+P-1)(F+B) |"));
  EXPECT_THAT(done.out, HasSubstr("| hidden | "));
}

TEST(CliValidate, WhatIsToBeValidatedMustBeSaid) {
  EXPECT_THAT(execute({"validate"}).err, HasSubstr("validate: what is to be validated is missing: theory"));
}

}  // namespace
}  // namespace traingraph::scenarios
