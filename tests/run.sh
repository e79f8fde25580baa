#!/usr/bin/env bash
# Installs the packages that are missing, builds, and passes the tests. May be run again at any time.
#
#   tests/run.sh                the tests, on the optimized build (build/)
#   tests/run.sh --large        the examples of more than 2,048 GPUs too
#   tests/run.sh --asan         on the build with AddressSanitizer and UndefinedBehaviorSanitizer (build-asan/)
#   tests/run.sh --clang        on the clang++ 16 build (build-clang/)
#   tests/run.sh --fuzz smoke   each fuzz target for a minute, instead of the tests (build-fuzz/)
#   tests/run.sh --benchmarks   the benchmark programs, instead of the tests
#   tests/run.sh --ci           a check whose tool is not there fails, where otherwise it is skipped
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scenarios/packages.sh
source "$root/scenarios/packages.sh"

usage() {
  sed -n '2,/^set /{/^#/{s/^# \{0,1\}//;p}}' "${BASH_SOURCE[0]}"
}

preset=release
what=tests
packages=("${build_packages[@]}" "${test_packages[@]}")
while [[ $# -gt 0 ]]; do
  case $1 in
    --large) export TRAINGRAPH_LARGE=1 ;;
    --asan) preset=asan ;;
    --clang)
      preset=clang
      packages+=(clang-16)
      ;;
    --fuzz)
      if [[ ${2:-} != smoke ]]; then
        echo "--fuzz: found '${2:-}', allowed: smoke" >&2
        exit 2
      fi
      preset=fuzz
      what=fuzz
      packages+=(clang-16)
      shift
      ;;
    --benchmarks)
      what=benchmarks
      packages+=(libbenchmark-dev)
      ;;
    --ci)
      export TRAINGRAPH_CI=1
      packages+=(clang-format-16)
      ;;
    --help | -h)
      usage
      exit 0
      ;;
    *)
      echo "tests/run.sh: unknown option '$1'" >&2
      usage >&2
      exit 2
      ;;
  esac
  shift
done

install_missing "${packages[@]}"

case $what in
  tests)
    build_preset "$root" "$preset"
    cd "$root"
    exec ctest --preset "$preset" --parallel "$(nproc)" --no-label-summary
    ;;
  fuzz)
    build_preset "$root" fuzz fuzz
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    passed=0
    failed=0
    for target in "$root"/build-fuzz/tests/fuzz/fuzz_*; do
      [[ -x $target && -f $target ]] || continue
      corpus=$work/$(basename "$target")
      mkdir "$corpus"
      if (cd "$work" && "$target" -max_total_time=60 -rss_limit_mb=4096 -timeout=10 -print_final_stats=1 "$corpus" \
        "$root/scenarios/examples") >"$work/log" 2>&1; then
        passed=$((passed + 1))
        echo "$(basename "$target"): $(grep -o 'number_of_executed_units: *[0-9]*' "$work/log")"
      else
        failed=$((failed + 1))
        tail -n 60 "$work/log"
      fi
    done
    echo "$passed passed, $failed failed"
    [[ $failed -eq 0 && $passed -gt 0 ]]
    ;;
  benchmarks)
    build_preset "$root" release benchmarks
    grep -m1 'model name' /proc/cpuinfo
    programs=$root/build/tests/benchmarks
    inputs=$(mktemp -d)
    trap 'rm -rf "$inputs"' EXIT
    python3 -B "$root/tests/data/flows/generate.py" "$inputs" >/dev/null
    python3 -B "$root/tests/data/flows/generate_mixed.py" "$inputs" >/dev/null
    for target in "$programs"/benchmark_*; do
      [[ -x $target && -f $target ]] || continue
      case $(basename "$target") in
        benchmark_ring)
          "$target" 256 1024 4096
          "$target" --late 256 1024
          ;;
        benchmark_flows)
          (cd "$inputs" && "$target" a2a-ecmp-256.txt a2a-over2-ecmp-256.txt a2a-ecmp-512.txt perm-ecmp-4096.txt \
            mixed-a2a-64.txt faults-a2a-64.txt mixed-perm-4096.txt spray-perm-512.txt mixed-a2a-256.txt)
          ;;
        *) "$target" ;;
      esac
    done
    ;;
esac
