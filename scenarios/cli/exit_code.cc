#include "scenarios/cli/exit_code.h"

#include <fmt/format.h>

#include <new>
#include <string_view>
#include <system_error>

#include "analysis/h5_file.h"
#include "scenarios/diagnostics.h"
#include "sim/error.h"

namespace traingraph::scenarios::cli {

namespace {

Verdict verdict(ExitCode code, std::string_view message) { return {code, fmt::format("traingraph: {}", message)}; }

}  // namespace

Verdict exit_code_of(std::exception_ptr error) {
  try {
    std::rethrow_exception(error);
  } catch (const ReaderGone&) {
    return {};
  } catch (const sim::Cancelled&) {
    return verdict(ExitCode::interrupted, "interrupted");
  } catch (const ComparisonFailed& e) {
    return verdict(ExitCode::failed, e.what());
  } catch (const ScenarioError& e) {  // a list of places: editors find them at the start of the line
    return {ExitCode::usage, e.what()};
  } catch (const UsageError& e) {
    return verdict(ExitCode::usage, e.what());
  } catch (const sim::InputError& e) {
    return verdict(ExitCode::usage, e.what());
  } catch (const ValidationFailed& e) {
    return verdict(ExitCode::failed, e.what());
  } catch (const EnvironmentError& e) {
    return verdict(ExitCode::environment, e.what());
  } catch (const analysis::FileError& e) {
    return verdict(ExitCode::environment, e.what());
  } catch (const std::system_error& e) {  // std::filesystem errors included
    return verdict(ExitCode::environment, e.what());
  } catch (const std::bad_alloc&) {
    return verdict(ExitCode::environment, "out of memory (`traingraph check` estimates what a run needs)");
  } catch (const std::exception& e) {
    return verdict(ExitCode::internal, fmt::format("internal error, a defect of this program: {}", e.what()));
  } catch (...) {
    return verdict(ExitCode::internal, "internal error, a defect of this program: unknown exception");
  }
}

}  // namespace traingraph::scenarios::cli
