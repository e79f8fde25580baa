#!/usr/bin/env bash
# From a fresh Debian 12 to the first result: installs the packages that are missing, builds, and simulates one training step of
# GPT-3 175B on 1,024 A100 GPUs. May be run again at any time.
#
#   scenarios/quickstart.sh [RESULT.h5]      (default: gpt3.h5 in the current folder)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
result=$(realpath --no-symlinks "${1:-gpt3.h5}")
# shellcheck source=scenarios/packages.sh
source "$root/scenarios/packages.sh"

# One build folder serves the tests too, so configuring it needs their libraries.
install_missing "${build_packages[@]}" "${test_packages[@]}"
echo "building (build/)" >&2
build_preset "$root" release traingraph
echo "traingraph run scenarios/examples/gpt3_175b_1024_a100.yaml -o $result" >&2
exec "$root/build/traingraph" run "$root/scenarios/examples/gpt3_175b_1024_a100.yaml" -o "$result" --force
