#!/usr/bin/env bash
# Runs the examples of at most 2,048 GPUs (all of them with TRAINGRAPH_LARGE set, and those that are named whatever their size)
# and compares every number of their JSON output with the stored one beside them, NAME.expected.json. What the engine did on the
# way (the `engine` object: counters, wall time, memory) is no result and is not compared.
#
#   tests/examples.sh [--update] [--binary PATH] [NAME...]     --update stores the output instead; PATH: build/traingraph
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
limit=2048
binary=$root/build/traingraph
update=
names=()
large=${TRAINGRAPH_LARGE:-}
while [[ $# -gt 0 ]]; do
  case $1 in
    --update) update=1 ;;
    --binary)
      binary=$(realpath "${2:?--binary needs a path}")
      shift
      ;;
    -*)
      echo "tests/examples.sh: unknown option '$1'" >&2
      exit 2
      ;;
    *)
      names+=("$(basename "$1" .yaml)")
      large=1
      ;;
  esac
  shift
done
if [[ ${#names[@]} -eq 0 ]]; then
  for file in "$root"/scenarios/examples/*.yaml; do names+=("$(basename "$file" .yaml)"); done
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
cd "$root"
for name in "${names[@]}"; do
  scenario=scenarios/examples/$name.yaml
  expected=scenarios/examples/$name.expected.json
  if ! "$binary" check "$scenario" --format json >"$work/check.json"; then
    echo "FAILED $name: check"
    failed=$((failed + 1))
    continue
  fi
  gpus=$(sed -n 's/^ *"gpus": \([0-9]*\),\{0,1\}$/\1/p' "$work/check.json" | head -n 1)
  if [[ -z $gpus ]]; then
    echo "FAILED $name: check does not say how many GPUs there are"
    failed=$((failed + 1))
    continue
  fi
  if [[ $gpus -gt $limit && -z $large ]]; then
    echo "left out $name: $gpus GPUs"
    continue
  fi
  if ! "$binary" run "$scenario" --format json >"$work/full.json"; then
    echo "FAILED $name: run"
    failed=$((failed + 1))
    continue
  fi
  sed '/^  "engine": {/,/^  }/d' "$work/full.json" >"$work/found.json"
  if [[ -n $update ]]; then
    cp "$work/found.json" "$expected"
    echo "stored $expected"
  elif [[ ! -f $expected ]]; then
    echo "FAILED $name: there is no $expected (tests/examples.sh --update $name)"
    failed=$((failed + 1))
  elif ! diff -u "$expected" "$work/found.json" | head -n 60; then
    echo "FAILED $name: differs from $expected"
    failed=$((failed + 1))
  else
    echo "passed $name"
    passed=$((passed + 1))
  fi
done
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
