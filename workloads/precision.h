// The number formats that a training run may use for its matrix products, and the bytes of one stored element.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "workloads/enum_names.h"

namespace traingraph::workloads {

/// fp16 and bf16: 16-bit weights and activations, fp32 master weights in the optimizer. fp32: everything in 32 bits. tf32:
/// stored as fp32, multiplied at the tf32 rate.
enum class Precision : std::uint8_t { fp32, tf32, fp16, bf16 };
inline constexpr std::array kPrecisionNames{
    EnumName<Precision>{Precision::fp32, "fp32"},
    EnumName<Precision>{Precision::tf32, "tf32"},
    EnumName<Precision>{Precision::fp16, "fp16"},
    EnumName<Precision>{Precision::bf16, "bf16"},
};
[[nodiscard]] constexpr std::span<const EnumName<Precision>> enum_names(Precision) { return kPrecisionNames; }

/// Bytes of one weight, activation or transmitted element.
[[nodiscard]] constexpr double element_bytes(Precision p) {
  return p == Precision::fp16 || p == Precision::bf16 ? 2.0 : 4.0;
}

/// The format in which gradients are accumulated over micro-batches and reduced over data-parallel ranks.
enum class GradientType : std::uint8_t { fp32, same_as_weights };
inline constexpr std::array kGradientTypeNames{
    EnumName<GradientType>{GradientType::fp32, "fp32"},
    EnumName<GradientType>{GradientType::same_as_weights, "same_as_weights"},
};
[[nodiscard]] constexpr std::span<const EnumName<GradientType>> enum_names(GradientType) { return kGradientTypeNames; }

}  // namespace traingraph::workloads
