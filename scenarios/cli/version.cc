#include "scenarios/cli/version.h"

#include <fmt/format.h>
#include <hdf5.h>

#include <boost/version.hpp>

namespace traingraph::scenarios::cli {

std::string version() { return TRAINGRAPH_VERSION; }

std::string version_text() {
#if defined(__clang__)
  const std::string compiler = fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  const std::string compiler = fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
  // The library that is loaded may be another than the header that was compiled against.
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  const bool known = H5get_libversion(&major, &minor, &release) >= 0;
  return fmt::format(
      "traingraph {}\n"
      "commit     {}\n"
      "build      {}\n"
      "compiler   {}\n"
      "Boost      {}.{}.{}\n"
      "HDF5       {}\n",
      TRAINGRAPH_VERSION, TRAINGRAPH_COMMIT, TRAINGRAPH_BUILD_TYPE, compiler, BOOST_VERSION / 100000,
      BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100,
      known ? fmt::format("{}.{}.{}", major, minor, release) : std::string{"unknown"});
}

}  // namespace traingraph::scenarios::cli
