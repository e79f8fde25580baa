// The program: picks the verb, runs it, and turns whatever happened into an exit code (exit_code.h).
#pragma once

namespace traingraph::scenarios::cli {

[[nodiscard]] int run_main(int argc, char** argv);

}  // namespace traingraph::scenarios::cli
