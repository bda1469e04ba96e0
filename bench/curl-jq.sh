#!/usr/bin/env bash
# The same with curl and jq; the manifests are JSON already, since jq reads no YAML. Usage: curl-jq.sh BASE KEY FOLDER
set -euo pipefail
base=$1 key=$2 folder=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
curl -sf -H "x-api-key: $key" "$base/v1/integrations" > "$scratch/list.json"
changed=0
for file in "$folder"/*.json; do
  name=$(jq -r .spec.integration "$file")
  id=$(jq -r --arg name "$name" '.data.items[] | select(.name == $name) | .id' "$scratch/list.json")
  curl -sf -H "x-api-key: $key" "$base/v1/integrations/$id/schemas" > "$scratch/live.json"
  jq -c -n --slurpfile wanted "$file" --slurpfile live "$scratch/live.json" '
    def diff($w; $l): if ($w | type) == "object"
      then reduce ($w | keys_unsorted[]) as $k ({}; diff($w[$k]; $l[$k]) as $d | if $d == null then . else .[$k] = $d end) | if . == {} then null else . end
      elif $w == $l then null else $w end;
    diff($wanted[0].spec.schemas; $live[0].data.schemas)' > "$scratch/diff.json"
  if [ "$(cat "$scratch/diff.json")" != null ]; then
    changed=$((changed + 1))
    if [ -n "${BENCH_APPLY:-}" ]; then
      jq -c '{schemas: .}' "$scratch/diff.json" | curl -sf -X PATCH -H "x-api-key: $key" -H 'content-type: application/json' \
        --data-binary @- "$base/v1/integrations/$id/schemas" > /dev/null
    fi
  fi
done
echo "$changed integrations differ"
