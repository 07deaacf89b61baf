#!/bin/bash
# docs_test.sh <source folder> <scratch folder>: docs/site/build.py builds a small tree, and refuses each planted fault with a message that locates
# it.
set -u
builder=$1/docs/site/build.py scratch=$2 failed=0
command -v mkdocs >/dev/null || { echo "skipped: no mkdocs on this machine (scripts/setup ci installs it, with mkdocs-material)"; exit 77; }

fresh() {
  rm -rf "$scratch" && mkdir -p "$scratch"/tree/{docs/site,part}
  # The real configuration, with one page.
  { sed '/^nav:/,$d' "$1/docs/site/mkdocs.yml"; printf 'nav:\n  - Home: README.md\n  - Start: docs/start.md\n'; } >"$scratch/tree/docs/site/mkdocs.yml"
  printf '# Home\n[start](docs/start.md#first) [part](part#what-it-is) [file](part/file.txt)\n' >"$scratch/tree/README.md"
  printf '# Start\n## First\nText\n| a | b |\n|---|---|\n| `c` | d |\n' >"$scratch/tree/docs/start.md"
  printf '# Part\n## What it is\n' >"$scratch/tree/part/README.md"
  echo text >"$scratch/tree/part/file.txt"
}
build() { python3 "$builder" "$scratch/tree" "$scratch/out" >"$scratch/said" 2>&1; }

fresh "$1"
build || { echo "a tree without a fault is refused:"; cat "$scratch/said"; failed=1; }
grep -q '<td><code>c</code></td>' "$scratch/out/site/docs/start.html" || { echo "a table that follows a line is none"; failed=1; }
[ -f "$scratch/out/site/part/file.txt" ] || { echo "a linked file does not come along"; failed=1; }

# refuse <words> <file> <line that is added>
refuse() {
  fresh "$source"
  printf '\n%s\n' "$3" >>"$scratch/tree/$2"
  build && { echo "'$3' in $2 is not refused"; failed=1; return; }
  grep -qF -- "$1" "$scratch/said" || { echo "'$3' in $2: '$1' is not said, but:"; cat "$scratch/said"; failed=1; }
}
source=$1
refuse 'docs/gone.md' README.md '[gone](docs/gone.md)'
refuse '#nowhere' README.md '[place](docs/start.md#nowhere)'
refuse '#nowhere' docs/start.md '[place](#nowhere)'
refuse 'gone.txt' part/README.md '[file](gone.txt)'
refuse 'is not in the list of pages' docs/another.md '# Another'
refuse "asks for 'weather'" docs/start.md '<!-- generated: weather -->'
refuse '--info' docs/start.md '<!-- generated: variables -->'
exit $failed
