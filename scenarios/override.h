// Overrides of the command line: `a.b=c` puts the YAML value c at path a.b of a document.
#pragma once

#include <string>

#include "scenarios/diagnostics.h"
#include "scenarios/document.h"

namespace traingraph::scenarios {

/// Applies one override to `root`. A word on the way that stands for a preset becomes `{preset: word}`; `a[0].b=c` reaches
/// into a list that the file has; `a=` removes the key. Faults go to `diagnostics`.
void apply_override(Value& root, const std::string& text, Diagnostics& diagnostics);

}  // namespace traingraph::scenarios
