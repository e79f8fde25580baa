// What the program's exit code says, and the exceptions that only the command line knows.
//
//   0    done (a reader that went away, EPIPE, included)
//   1    a comparison or a validation failed
//   2    the command line or the input is wrong: usage, scenario, a deadlocked program, an output that exists already
//   3    a defect of the program
//   4    the environment: disk, permission, memory
//   130  interrupted; nothing half-written is left behind
//
// exit_code_of() is the one place where exceptions become codes.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace traingraph::scenarios::cli {

enum class ExitCode : int { done = 0, failed = 1, usage = 2, internal = 3, environment = 4, interrupted = 130 };

/// The command line cannot be understood, or asks for what is not allowed.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A comparison or a validation did not hold; its report is on stdout already.
class ComparisonFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The disk, a permission or another part of the machine failed us.
class EnvironmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A validation or a comparison came out otherwise than it must.
class ValidationFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whoever read our stdout has gone away: the output ends silently.
class ReaderGone : public std::exception {};

struct Verdict {
  ExitCode code = ExitCode::done;
  std::string message;  ///< for stderr; empty: nothing to say
};

/// Code and message of what was thrown.
[[nodiscard]] Verdict exit_code_of(std::exception_ptr error);

}  // namespace traingraph::scenarios::cli
