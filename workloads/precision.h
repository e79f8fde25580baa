// The number formats that a training run may use for its matrix products, and the bytes of one stored element.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "workloads/enum_names.h"

namespace traingraph::workloads {

/// fp16 and bf16: 16-bit weights and activations, fp32 master weights in the optimizer. fp32: everything in 32 bits. tf32:
/// stored as fp32, multiplied at the tf32 rate. fp8: as bf16, but the products of linear layers take operands of one byte
/// (scaled per tensor) at the fp8 rate; whatever is stored or sent stays bf16, and so do attention, norms, the LM head and
/// the loss.
enum class Precision : std::uint8_t { fp32, tf32, fp16, bf16, fp8 };
inline constexpr std::array kPrecisionNames{
    EnumName<Precision>{Precision::fp32, "fp32"}, EnumName<Precision>{Precision::tf32, "tf32"},
    EnumName<Precision>{Precision::fp16, "fp16"}, EnumName<Precision>{Precision::bf16, "bf16"},
    EnumName<Precision>{Precision::fp8, "fp8"},
};
[[nodiscard]] constexpr std::span<const EnumName<Precision>> enum_names(Precision) { return kPrecisionNames; }

/// Bytes of one weight, activation or transmitted element.
[[nodiscard]] constexpr double element_bytes(Precision p) {
  return p == Precision::fp32 || p == Precision::tf32 ? 4.0 : 2.0;
}

/// Bytes of one operand of a linear layer's matrix products.
[[nodiscard]] constexpr double product_bytes(Precision p) { return p == Precision::fp8 ? 1.0 : element_bytes(p); }
/// The format of everything else that is multiplied: attention, LM head, router.
[[nodiscard]] constexpr Precision general_precision(Precision p) { return p == Precision::fp8 ? Precision::bf16 : p; }

/// The format in which gradients are accumulated over micro-batches and reduced over data-parallel ranks.
enum class GradientType : std::uint8_t { fp32, same_as_weights };
inline constexpr std::array kGradientTypeNames{
    EnumName<GradientType>{GradientType::fp32, "fp32"},
    EnumName<GradientType>{GradientType::same_as_weights, "same_as_weights"},
};
[[nodiscard]] constexpr std::span<const EnumName<GradientType>> enum_names(GradientType) { return kGradientTypeNames; }

}  // namespace traingraph::workloads
