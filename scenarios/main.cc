#include "scenarios/cli/main.h"

int main(int argc, char** argv) { return traingraph::scenarios::cli::run_main(argc, argv); }
