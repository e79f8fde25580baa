// The example scenarios (scenarios/examples), compiled into the program for the page to offer.
#pragma once

#include <span>

#include "analysis/web_assets.h"

namespace traingraph::scenarios {

/// All examples, sorted by name ("ring_8.yaml").
[[nodiscard]] std::span<const analysis::EmbeddedFile> example_files();

}  // namespace traingraph::scenarios
