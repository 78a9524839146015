#!/usr/bin/env bash
# The suite on the other versions of Node.js that are supported, and a program of real jobs on each of them and on Bun, from an
# install out of the registry. Everything comes from there in the versions named here, into .cache/. What cannot be had counts as
# failed. Ends with one line for each: `Node 22.23.5: N passed, N failed`.
set -uo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
export npm_config_fund=false npm_config_audit=false npm_config_update_notifier=false npm_config_ignore_scripts=true

node_versions=(22.23.5 24.22.3)
bun_version=1.4.5
platform=$(node -p 'process.platform + "-" + process.arch')
# The build for older processors, which runs on newer ones too.
bun_platform=${platform/%x64/x64-baseline}
bun_platform=${bun_platform/%arm64/aarch64}

place=$(mktemp -d)
trap 'rm -rf -- "$place"' EXIT
root=$PWD
summary=()

# Networks fail for a moment.
retried() {
  for pause in 5 20 0; do
    "$@" && return
    sleep "$pause"
  done
  return 1
}

# fetch <package> <version> <program>: prints where the program is.
fetch() {
  local folder=.cache/${1//\//-}-$2
  local program=$root/$folder/node_modules/$1/bin/$3
  if [[ $("$program" --version 2>/dev/null) != ?(v)"$2" ]]; then
    rm -rf -- "$folder"
    mkdir -p -- "$folder"
    retried npm install --no-save --no-package-lock --prefix "$folder" "$1@$2" </dev/null >&2 || return 1
  fi
  [[ $("$program" --version) == ?(v)"$2" ]] && echo "$program"
}

# suite <version> <program>: the closing line is the last one of its log.
suite() {
  echo "── the suite on Node $1"
  PATH="$(dirname -- "$2"):$PATH" SCENARIOS=tell "$2" node_modules/vitest/vitest.mjs run </dev/null 2>&1 | tee -- "$place/log"
  local status=$?
  local line
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$place/log" | tail -n 1)
  # A run that dies on its way has failed, whatever it had counted.
  if [[ -z $line || ($status != 0 && $line == *' 0 failed'*) ]]; then line='0 passed, 1 failed'; fi
  summary+=("Node $1: $line")
}

# An empty folder with the package in it, as a user gets it.
install() {
  mkdir -p -- "$place/app"
  npm pack --silent --ignore-scripts=false -w triphammer --pack-destination "$place" </dev/null &&
    echo '{ "private": true, "type": "module" }' >"$place/app/package.json" &&
    retried npm install --prefix "$place/app" "$place"/triphammer-*.tgz </dev/null &&
    cp tools/runtimes/smoke.mjs "$place/app"
}

# smoke <name> <program>: real jobs in the folder of the install.
smoke() {
  local parts=(memory sqlite testing command)
  echo "── real jobs on $1"
  (cd -- "$place/app" && rm -f smoke.db* && "$2" smoke.mjs "${parts[@]}" </dev/null 2>&1) | tee -- "$place/log"
  local well
  well=$(grep -c ': well$' "$place/log")
  summary+=("$1: $well passed, $((${#parts[@]} - well)) failed")
}

installed=false
if install; then installed=true; else summary+=('npm install: 0 passed, 1 failed'); fi
for version in "${node_versions[@]}"; do
  if program=$(fetch "node-$platform" "$version" node); then
    suite "$version" "$program"
    $installed && smoke "Node $version, installed" "$program"
  else
    summary+=("Node $version, which could not be had: 0 passed, 1 failed")
  fi
done
if program=$(fetch "@oven/bun-$bun_platform" "$bun_version" bun); then
  $installed && smoke "Bun $bun_version, installed" "$program"
else
  summary+=("Bun $bun_version, which could not be had: 0 passed, 1 failed")
fi

printf '%s\n' '' "${summary[@]}"
[[ ${summary[*]} != *' passed, '[1-9]* ]]
