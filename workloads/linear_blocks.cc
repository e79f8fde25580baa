#include "workloads/linear_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "sim/error.h"
#include "workloads/groups.h"
#include "workloads/job.h"
#include "workloads/layout.h"
#include "workloads/matmul.h"
#include "workloads/program_writer.h"
#include "workloads/rank_streams.h"
#include "workloads/schedule.h"

namespace traingraph::workloads {
namespace {

std::uint32_t product(const std::vector<std::uint32_t>& degrees) {
  return std::accumulate(degrees.begin(), degrees.end(), 1U, std::multiplies<>{});
}

const MatmulSpec& matmul_of(const HardwareSpec& hardware) {
  if (!hardware.matmul) {
    throw sim::InputError{fmt::format("hardware '{}' has no matmul section, which linear_blocks needs", hardware.name)};
  }
  return *hardware.matmul;
}

void check(const LinearBlocksSpec& s) {
  const auto positive = [](double v, const char* name) {
    if (!(v > 0) || !std::isfinite(v)) throw sim::InputError{fmt::format("linear_blocks: {} must be positive", name)};
  };
  positive(s.hidden, "hidden");
  positive(s.ff, "ff");
  positive(s.blocks, "blocks");
  positive(s.batch_tokens, "batch_tokens");
  positive(s.microbatches, "microbatches");
  positive(s.virtual_stages, "virtual_stages");
  positive(s.experts, "experts");
  positive(s.active_experts, "active_experts");
  if (s.active_experts > s.experts) {
    throw sim::InputError{
        fmt::format("linear_blocks: active_experts is {}; allowed: up to the {} experts", s.active_experts, s.experts)};
  }
  if (s.experts % product(s.ep) != 0) {
    throw sim::InputError{fmt::format("linear_blocks: ep {} does not divide the {} experts", product(s.ep), s.experts)};
  }
  if (splits_backward(s.schedule)) {
    throw sim::InputError{fmt::format("linear_blocks: schedule {} is not built; allowed: 1f1b, gpipe", name_of(s.schedule))};
  }
  const std::size_t levels = s.tp_ff.size();
  if (levels == 0 || s.tp_hidden.size() != levels || s.pp.size() != levels || s.dp.size() != levels) {
    throw sim::InputError{
        fmt::format("linear_blocks: tp_ff, tp_hidden, pp and dp must list one degree per network level; they "
                    "list {}, {}, {} and {}",
                    levels, s.tp_hidden.size(), s.pp.size(), s.dp.size())};
  }
  if (!s.ep.empty() && s.ep.size() != levels) {
    throw sim::InputError{fmt::format("linear_blocks: ep lists {} network levels, but tp_ff lists {}", s.ep.size(), levels)};
  }
  for (const auto* degrees : {&s.tp_ff, &s.tp_hidden, &s.ep, &s.pp, &s.dp}) {
    for (const std::uint32_t degree : *degrees) positive(degree, "every degree");
  }
}

std::vector<Layout::Digit> digits_of(const LinearBlocksSpec& s) {
  check(s);
  std::vector<Layout::Digit> digits;
  for (std::size_t level = 0; level < s.tp_ff.size(); ++level) {
    digits.push_back({Dimension::tp, s.tp_ff[level]});
    digits.push_back({Dimension::tp_hidden, s.tp_hidden[level]});
    if (!s.ep.empty()) digits.push_back({Dimension::ep, s.ep[level]});
    digits.push_back({Dimension::pp, s.pp[level]});
    digits.push_back({Dimension::dp, s.dp[level]});
  }
  return digits;
}

class LinearBlocksBuilder {
 public:
  LinearBlocksBuilder(const LinearBlocksSpec& spec, const WorkloadSpec& common, const HardwareSpec& hardware,
                      const Cluster& cluster)
      : spec_{spec},
        common_{common},
        cluster_{cluster},
        gpu_{matmul_of(hardware)},
        layout_{digits_of(spec)},
        writer_{place_job(common.placement, layout_.ranks(), spec.gpus,
                          spec.ep.empty() ? "tp_ff x tp_hidden x pp x dp" : "tp_ff x tp_hidden x ep x pp x dp", cluster),
                cluster} {
    stages_ = product(spec.pp);
    if (spec.blocks % stages_ != 0) {
      throw sim::InputError{fmt::format("{} blocks are not divisible by {} pipeline stages", spec.blocks, stages_)};
    }
    blocks_ = spec.blocks / stages_;
    if (blocks_ % spec.virtual_stages != 0) {
      throw sim::InputError{
          fmt::format("{} blocks per stage are not divisible by {} virtual stages", blocks_, spec.virtual_stages)};
    }
    if (stages_ == 1 && spec.virtual_stages > 1) throw sim::InputError{"virtual_stages needs more than one pipeline stage"};
    d1_ = spec.ff / layout_.degree(Dimension::tp);
    d2_ = spec.hidden / layout_.degree(Dimension::tp_hidden);
    const double ep = layout_.degree(Dimension::ep);
    tokens_ = spec.batch_tokens / (static_cast<double>(layout_.degree(Dimension::dp)) * spec.microbatches);
    local_experts_ = spec.experts / ep;
    expert_tokens_ = tokens_ * spec.active_experts / spec.experts;
    routed_tokens_ = tokens_ * spec.active_experts / ep;
  }

  Workload build() {
    prepare();
    for (std::uint32_t s = 0; s < stages_; ++s) write_stage(s);
    write_ranks();
    count();
    workload_.program = writer_.finish(common_.steps, slow_factors(common_, cluster_));
    return std::move(workload_);
  }

 private:
  struct Product {
    std::uint16_t label = 0;
    std::uint32_t duration = 0;
    sim::Duration time;
  };
  struct Reduction {
    bool present = false;
    std::uint16_t label = 0;
    std::uint32_t collective = 0;
  };

  Product make_product(const char* name, double d1, double d2, bool weight_gradient) {
    const double held = spec_.keep_weights_resident ? 2.0 * local_experts_ * blocks_ : 1;
    const sim::Duration time = sim::Duration::seconds(
        local_experts_ *
        matmul_seconds(gpu_, {.d1 = d1, .d2 = d2, .b = expert_tokens_, .weight_gradient = weight_gradient, .held = held}));
    return {writer_.label(name, TimeCategory::compute), writer_.duration(time), time};
  }

  Reduction make_reduction(const char* name, Dimension over, double words) {
    if (layout_.degree(over) == 1) return {};
    const CollectiveCall call{.kind = CollectiveKind::all_reduce,
                              .algorithm = spec_.tp_all_reduce,
                              .bytes = sim::Bytes{words * gpu_.word_bytes},
                              .options = {}};
    return {true, writer_.label(name, TimeCategory::exposed_tp), writer_.collective(call)};
  }

  Reduction make_exchange(const char* name) {
    if (layout_.degree(Dimension::ep) == 1) return {};
    const CollectiveCall call{.kind = CollectiveKind::all_to_all,
                              .algorithm = spec_.ep_all_to_all,
                              .bytes = sim::Bytes{routed_tokens_ * d2_ / layout_.degree(Dimension::tp) * gpu_.word_bytes},
                              .options = {}};
    return {true, writer_.label(name, TimeCategory::exposed_ep), writer_.collective(call)};
  }

  void prepare() {
    up_ = make_product("up", d1_, d2_, false);
    down_ = make_product("down", d2_, d1_, false);
    down_gradient_ = make_product("down_input_gradient", d1_, d2_, false);
    up_gradient_ = make_product("up_input_gradient", d2_, d1_, false);
    down_weight_ = make_product("down_weight_gradient", d2_, d1_, true);
    up_weight_ = make_product("up_weight_gradient", d1_, d2_, true);
    inner_ = make_reduction("inner_all_reduce", Dimension::tp_hidden, routed_tokens_ * d1_);
    outer_ = make_reduction("outer_all_reduce", Dimension::tp, routed_tokens_ * d2_);
    dispatch_ = make_exchange("expert_dispatch");
    combine_ = make_exchange("expert_combine");
    message_ = writer_.message(
        sim::Bytes{tokens_ / layout_.degree(Dimension::ep) * d2_ / layout_.degree(Dimension::tp) * gpu_.word_bytes});
  }

  // Slots, in this order, as far as they exist.
  [[nodiscard]] bool has_tp() const { return layout_.degree(Dimension::tp) > 1; }
  [[nodiscard]] bool has_tp_hidden() const { return layout_.degree(Dimension::tp_hidden) > 1; }
  [[nodiscard]] bool has_ep() const { return layout_.degree(Dimension::ep) > 1; }
  [[nodiscard]] bool has_dp() const { return layout_.degree(Dimension::dp) > 1; }
  [[nodiscard]] bool wraps() const { return spec_.virtual_stages > 1; }
  [[nodiscard]] bool has_next(std::uint32_t stage) const { return stages_ > 1 && (wraps() || stage + 1 < stages_); }
  [[nodiscard]] bool has_previous(std::uint32_t stage) const { return stages_ > 1 && (wraps() || stage > 0); }

  void number_slots(std::uint32_t stage) {
    std::uint16_t n = 0;
    if (has_tp()) outer_slot_ = n++;
    if (has_tp_hidden()) inner_slot_ = n++;
    if (has_ep()) ep_slot_ = n++;
    if (has_dp()) dp_slot_ = n++;
    next_slot_ = n;  // forward to the next stage, backward from it
    if (has_next(stage)) n = static_cast<std::uint16_t>(n + 2);
    previous_slot_ = n;  // forward from the previous stage, backward to it
    if (has_previous(stage)) n = static_cast<std::uint16_t>(n + 2);
    slot_count_ = n;
  }

  void write_stage(std::uint32_t stage) {
    number_slots(stage);
    stage_ = stage;
    streams_.emplace(fmt::format("stage {}", stage), slot_count_);
    const PipelineShape shape{stages_, spec_.microbatches, spec_.virtual_stages};
    for (const Pass& pass : passes_of_stage(spec_.schedule, shape, stage)) {
      pass.kind == PassKind::forward ? write_forward(pass) : write_backward(pass);
    }
    streams_->at(-1, -1);
    if (has_dp()) {
      const double words = 2 * d1_ * d2_ * local_experts_ * blocks_;
      const CollectiveCall call{.kind = CollectiveKind::all_reduce,
                                .algorithm = spec_.dp_all_reduce,
                                .bytes = sim::Bytes{words * gpu_.word_bytes},
                                .options = {}};
      streams_->collective(Stream::data, writer_.label("gradient_all_reduce", TimeCategory::exposed_dp), dp_slot_,
                           writer_.collective(call));
      streams_->require_all(Stream::data);
    }
    streams_->marker(writer_.label("step_end", TimeCategory::idle));
    templates_.push_back(writer_.add_template(streams_->take()));
  }

  [[nodiscard]] std::uint32_t first_block(const Pass& pass) const {
    const std::uint32_t per_chunk = blocks_ / spec_.virtual_stages;
    return (pass.chunk * stages_ + stage_) * per_chunk;
  }
  [[nodiscard]] bool at_start(const Pass& pass) const { return pass.chunk == 0 && stage_ == 0; }
  [[nodiscard]] bool at_end(const Pass& pass) const {
    return pass.chunk + 1 == spec_.virtual_stages && stage_ + 1 == stages_;
  }

  void receive(const Pass& pass) {
    const bool forward = pass.kind == PassKind::forward;
    if (forward ? at_start(pass) : at_end(pass)) return;
    const Stream stream = forward ? Stream::forward_receive : Stream::backward_receive;
    const auto slot = static_cast<std::uint16_t>(forward ? previous_slot_ : next_slot_ + 1);
    const std::uint16_t label =
        writer_.label(forward ? "forward_receive" : "backward_receive", TimeCategory::wait, TimeCategory::bubble);
    streams_->receive(stream, label, slot, message_);
    streams_->require_all(stream);
  }

  void send(const Pass& pass) {
    const bool forward = pass.kind == PassKind::forward;
    if (forward ? at_end(pass) : at_start(pass)) return;
    const Stream stream = forward ? Stream::forward_send : Stream::backward_send;
    const auto slot = static_cast<std::uint16_t>(forward ? next_slot_ : previous_slot_ + 1);
    streams_->send(stream, writer_.label(forward ? "forward_send" : "backward_send", TimeCategory::wait), slot, message_);
  }

  void run(const Product& p, std::uint32_t may_overlap = 0) { streams_->compute(p.label, p.duration, may_overlap); }
  void reduce(const Reduction& r, std::uint16_t slot) {
    if (r.present) streams_->collective(Stream::blocking, r.label, slot, r.collective);
  }
  /// What a pass may begin with waits for its input.
  void exchange(const Reduction& r, const Pass& pass) {
    const Stream input = pass.kind == PassKind::forward ? Stream::forward_receive : Stream::backward_receive;
    if (r.present) streams_->collective(Stream::blocking, r.label, ep_slot_, r.collective, {input});
  }
  /// How many of the collectives issued last a weight gradient need not wait for.
  [[nodiscard]] std::uint32_t beside(bool one, bool other = false) const {
    return spec_.defer_weight_gradients ? (one ? 1U : 0U) + (other ? 1U : 0U) : 0U;
  }

  void write_forward(const Pass& pass) {
    const auto mb = static_cast<std::int32_t>(pass.microbatch);
    streams_->at(mb, -1);
    receive(pass);
    const std::uint32_t begin = first_block(pass);
    for (std::uint32_t b = begin; b < begin + blocks_ / spec_.virtual_stages; ++b) {
      streams_->at(mb, static_cast<std::int32_t>(b));
      exchange(dispatch_, pass);
      run(up_);
      reduce(inner_, inner_slot_);
      run(down_);
      reduce(outer_, outer_slot_);
      exchange(combine_, pass);
    }
    send(pass);
  }

  void write_backward(const Pass& pass) {
    const auto mb = static_cast<std::int32_t>(pass.microbatch);
    streams_->at(mb, -1);
    receive(pass);
    const std::uint32_t begin = first_block(pass);
    for (std::uint32_t b = begin + blocks_ / spec_.virtual_stages; b-- > begin;) {
      streams_->at(mb, static_cast<std::int32_t>(b));
      exchange(combine_, pass);
      run(down_gradient_);
      reduce(inner_, inner_slot_);
      run(down_weight_, beside(inner_.present));
      run(up_gradient_);
      reduce(outer_, outer_slot_);
      exchange(dispatch_, pass);
      if (b == begin && spec_.defer_weight_gradients) send(pass);
      run(up_weight_, beside(outer_.present, dispatch_.present));
      if (b == begin && !spec_.defer_weight_gradients) send(pass);
    }
  }

  void write_ranks() {
    const Groups outer = write_groups(writer_, "tp_ff", layout_, {Dimension::tp});
    const Groups inner = write_groups(writer_, "tp_hidden", layout_, {Dimension::tp_hidden});
    const Groups ep = write_groups(writer_, "ep", layout_, {Dimension::ep});
    const Groups dp = write_groups(writer_, "dp", layout_, {Dimension::dp});
    std::vector<sim::ChannelId> forward(layout_.ranks());   // to the next stage
    std::vector<sim::ChannelId> backward(layout_.ranks());  // back from it
    const auto neighbour = [&](std::uint32_t r, std::uint32_t stage) {
      return layout_.moved(sim::RankId{r}, Dimension::pp, stage % stages_);
    };
    for (std::uint32_t r = 0; r < layout_.ranks(); ++r) {
      const std::uint32_t stage = layout_.coordinate(sim::RankId{r}, Dimension::pp);
      if (!has_next(stage)) continue;
      const sim::RankId next = neighbour(r, stage + 1);
      forward[r] = writer_.channel(sim::RankId{r}, next);
      backward[r] = writer_.channel(next, sim::RankId{r});
    }
    std::vector<sim::Slot> slots;
    for (std::uint32_t r = 0; r < layout_.ranks(); ++r) {
      const std::uint32_t stage = layout_.coordinate(sim::RankId{r}, Dimension::pp);
      slots.clear();
      for (const Groups* g : {&outer, &inner, &ep, &dp}) {
        if (!g->empty()) slots.push_back(g->slot(r));
      }
      if (has_next(stage)) slots.insert(slots.end(), {{index(forward[r]), 0}, {index(backward[r]), 0}});
      if (has_previous(stage)) {
        const std::uint32_t before = index(neighbour(r, stage + stages_ - 1));
        slots.insert(slots.end(), {{index(forward[before]), 0}, {index(backward[before]), 0}});
      }
      writer_.add_rank(templates_[stage], slots);
      workload_.coordinates.push_back(layout_.coordinates(sim::RankId{r}));
    }
  }

  void count() {
    const double dp = layout_.degree(Dimension::dp);
    const double per_product = 2 * d1_ * d2_ * routed_tokens_;
    const sim::Duration forward = (up_.time + down_.time) * blocks_;
    const sim::Duration backward = (down_gradient_.time + up_gradient_.time + down_weight_.time + up_weight_.time) * blocks_;
    const double weights = 2 * d1_ * d2_ * local_experts_ * blocks_;  // of a GPU
    const double tp = static_cast<double>(layout_.degree(Dimension::tp)) * layout_.degree(Dimension::tp_hidden);
    RoleFacts facts;
    facts.flop = sim::Flop{6 * per_product * blocks_ * spec_.microbatches};
    facts.arithmetic_at_peak = facts.flop / gpu_.peak();
    facts.kernels = (forward + backward) * std::int64_t{spec_.microbatches};
    const double in_flight = std::min(spec_.microbatches, stages_);
    const double activations = in_flight * tokens_ / layout_.degree(Dimension::ep) * blocks_ *
                               (spec_.hidden + spec_.active_experts * spec_.ff) / tp;
    facts.memory = {{"parameters", sim::Bytes{weights * gpu_.word_bytes}},
                    {"gradients", sim::Bytes{weights * gpu_.word_bytes}},
                    {"optimizer states", sim::Bytes{12 * weights / dp}},
                    {"activations", sim::Bytes{activations * gpu_.word_bytes}}};
    workload_.roles = sim::IdVector<sim::TemplateId, RoleFacts>{stages_, facts};
    workload_.pipeline.stages = stages_;
    workload_.pipeline.microbatches = spec_.microbatches;
    workload_.pipeline.chunks = spec_.virtual_stages;
    workload_.pipeline.schedule = name_of(spec_.schedule);
    workload_.pipeline.forward.assign(stages_, forward);
    const sim::Duration tail = spec_.defer_weight_gradients ? up_weight_.time * spec_.virtual_stages : sim::Duration{};
    workload_.pipeline.backward.assign(stages_, backward - tail);
    workload_.pipeline.first_chunk.assign(stages_, (forward + backward - tail).scaled(1.0 / spec_.virtual_stages));
    workload_.pipeline.after_hand_off.assign(stages_, tail);
    workload_.pipeline.equal_chunks = true;
    const double parameters = 2 * spec_.ff * spec_.hidden * spec_.blocks * spec_.experts;
    workload_.tokens_per_step = spec_.batch_tokens;
    workload_.model_flop_per_step = sim::Flop{6 * parameters * spec_.active_experts / spec_.experts * spec_.batch_tokens};
    workload_.hardware_flop_per_step = workload_.model_flop_per_step;
    workload_.flop_convention = "counted";
    workload_.peak_per_gpu = gpu_.peak();
    workload_.parameters = static_cast<std::uint64_t>(std::llround(parameters));
    workload_.memory_capacity = gpu_.memory_size;
    const std::string experts = spec_.experts == 1
                                    ? ""
                                    : fmt::format(", EP {} of {} experts, {} active", layout_.degree(Dimension::ep),
                                                  spec_.experts, spec_.active_experts);
    workload_.description = fmt::format("linear_blocks: {} blocks of {} x {}, TP {} x {}{}, PP {}, DP {}, {} micro-batches",
                                        spec_.blocks, spec_.ff, spec_.hidden, layout_.degree(Dimension::tp),
                                        layout_.degree(Dimension::tp_hidden), experts, stages_, dp, spec_.microbatches);
  }

  const LinearBlocksSpec& spec_;
  const WorkloadSpec& common_;
  const Cluster& cluster_;
  const MatmulSpec& gpu_;
  Layout layout_;
  ProgramWriter writer_;
  Workload workload_;
  std::optional<RankStreams> streams_;
  std::vector<sim::TemplateId> templates_;
  std::uint32_t stages_ = 1;
  std::uint32_t blocks_ = 1;  // of a stage
  std::uint32_t stage_ = 0;
  double d1_ = 0;
  double d2_ = 0;
  double tokens_ = 0;  // of a micro-batch
  double local_experts_ = 1;
  double expert_tokens_ = 0;  // of a micro-batch and expert
  double routed_tokens_ = 0;  // of a micro-batch and GPU, once for each expert that a token has there
  Product up_, down_, down_gradient_, up_gradient_, down_weight_, up_weight_;
  Reduction inner_, outer_, dispatch_, combine_;
  std::uint32_t message_ = 0;
  std::uint16_t outer_slot_ = 0, inner_slot_ = 0, ep_slot_ = 0, dp_slot_ = 0, next_slot_ = 0, previous_slot_ = 0,
                slot_count_ = 0;
};

}  // namespace

Workload build_linear_blocks(const LinearBlocksSpec& spec, const WorkloadSpec& common, const HardwareSpec& hardware,
                             const Cluster& cluster) {
  return LinearBlocksBuilder{spec, common, hardware, cluster}.build();
}

}  // namespace traingraph::workloads
