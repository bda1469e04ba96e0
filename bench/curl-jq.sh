#!/usr/bin/env bash
# The same with curl and jq: one of each per integration, and one more to list them. The manifests are JSON already, since jq reads no YAML. Usage: curl-jq.sh BASE KEY FOLDER
set -euo pipefail
base=$1 key=$2 folder=$3
declare -A ids
while IFS=$'\t' read -r name id; do ids[$name]=$id; done < <(
  curl -sf -H "x-api-key: $key" "$base/v1/integrations" | jq -r '.data.items[] | [.name, .id] | @tsv')
diff='
  def diff($w; $l): if ($w | type) == "object"
    then reduce ($w | keys_unsorted[]) as $k ({}; diff($w[$k]; $l[$k]) as $d | if $d == null then . else .[$k] = $d end) | if . == {} then null else . end
    elif $w == $l then null else $w end;
  diff($wanted[0].spec.schemas; .data.schemas) | if . == null then empty else {schemas: .} end'
changed=0
# Files are named after their integration.
for file in "$folder"/*.json; do
  name=${file##*/}
  url=$base/v1/integrations/${ids[${name%.json}]}/schemas
  body=$(curl -sf -H "x-api-key: $key" "$url" | jq -c --slurpfile wanted "$file" "$diff")
  [ -n "$body" ] || continue
  changed=$((changed + 1))
  [ -z "${BENCH_APPLY:-}" ] || curl -sf -X PATCH -H "x-api-key: $key" -H 'content-type: application/json' --data-binary "$body" "$url" > /dev/null
done
echo "$changed integrations differ"
