// Names of enumerators, listed once beside each enum, so that the reader of a scenario and the printer of a result agree.
//
//   enum class Schedule : std::uint8_t { one_f_one_b, gpipe };
//   constexpr std::array kScheduleNames{EnumName<Schedule>{Schedule::one_f_one_b, "1f1b"}, ...};
//   constexpr std::span<const EnumName<Schedule>> enum_names(Schedule) { return kScheduleNames; }
//
// name_of(value) gives the name; enum_names(E{}) the list of what is allowed.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/error.h"

namespace traingraph::workloads {

template <class E>
struct EnumName {
  E value;
  std::string_view name;
};

template <class E>
[[nodiscard]] std::string name_of(E value)
  requires requires { enum_names(value); }
{
  for (const auto& entry : enum_names(value)) {
    if (entry.value == value) return std::string{entry.name};
  }
  throw sim::InternalError{"an enumerator without a name"};
}

}  // namespace traingraph::workloads
