#!/usr/bin/env bash
# The GitHub Action of action.yml: annotates the lines of a pull request, and comments each changed guest.
# PATHS, OPTIONS: words. BASE: the commit to compare with, or empty. NUMBER: of the pull request. COMMENT: true or false.
set -euo pipefail
read -ra paths <<<"$PATHS"
read -ra options <<<"$OPTIONS"
work=$(mktemp -d)
trap 'rm -rf "$work"; git worktree prune' EXIT
base=()
if [ -n "$BASE" ]; then
  git cat-file -e "$BASE" 2>/dev/null || git fetch --quiet --depth 1 origin "$BASE"
  git worktree add --quiet --detach "$work/base" "$BASE"
  for path in "${paths[@]}"; do
    if [ -e "$work/base/$path" ]; then base+=(--base "$work/base/$path"); fi
  done
fi
code=0
virtshape-check --format github "${base[@]}" "${options[@]}" "${paths[@]}" || code=$?
if [ "$code" -lt 2 ] && [ "$COMMENT" = true ] && [ -n "$NUMBER" ]; then
  marker="<!-- virtshape-check -->"
  { echo "$marker"; virtshape-check --format markdown "${base[@]}" "${options[@]}" "${paths[@]}" || true; } >"$work/comment.md"
  comments="repos/$GITHUB_REPOSITORY/issues/$NUMBER/comments"
  # One comment, which later pushes write anew.
  id=$(gh api --paginate "$comments" --jq ".[] | select(.body | startswith(\"$marker\")) | .id")
  if [ -n "$id" ]; then
    gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/${id%%$'\n'*}" --field "body=@$work/comment.md"
  else
    gh api --silent --method POST "$comments" --field "body=@$work/comment.md"
  fi
fi
exit "$code"
