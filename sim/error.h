// Two kinds of failure. InputError: what the user gave cannot be simulated (exit code 2 of the program; also a deadlocked
// program). InternalError: a promise of ours was broken (exit code 3); thrown by SIM_ASSERT, which stays on in release.
#pragma once

#include <stdexcept>
#include <string>

namespace traingraph::sim {

class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// The run was cancelled from outside (RunOptions::cancel).
class Cancelled : public std::runtime_error {
 public:
  Cancelled() : std::runtime_error{"cancelled"} {}
};

[[noreturn]] inline void fail_assertion(const char* condition, const char* why, const char* file, int line) {
  throw InternalError{std::string{why} + " (" + condition + ", " + file + ":" + std::to_string(line) + ")"};
}

}  // namespace traingraph::sim

#define SIM_ASSERT(condition, why)                     \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::traingraph::sim::fail_assertion(#condition, why, __FILE__, __LINE__))
