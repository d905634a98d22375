"""The subcommands of git that read, each with the options that leave it so.

Left out on purpose, because they write or run something: ``--output``, ``--ext-diff``,
``--textconv``, ``-O``, ``--open-files-in-pager``, ``--upload-pack``, ``--filters``, ``--exec``.
"""

from __future__ import annotations

from typing import Final

_DIFF: Final = (
    "-pusbwazRmc -M? -C? -B? -U? -l= -S= -G= -W --unified= --patch --no-patch --raw --stat? "
    "--numstat --shortstat --dirstat? --summary --compact-summary --patch-with-stat --name-only "
    "--name-status --color? --no-color --color-moved? --word-diff? --word-diff-regex= "
    "--color-words? --no-renames --find-renames? --find-copies? --full-index --abbrev? --binary "
    "--text --ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines "
    "--inter-hunk-context= --function-context --exit-code --quiet --no-ext-diff --no-textconv "
    "--ignore-submodules? --submodule? --src-prefix= --dst-prefix= --no-prefix --minimal "
    "--patience --histogram --diff-algorithm= --diff-filter= --pickaxe-regex --pickaxe-all "
    "--relative? --check --stat-width= --line-prefix= --cc --combined-all-paths"
)
_REVISIONS: Final = (
    "-# -n= -i -E -F -P --all --branches? --tags? --remotes? --glob= --exclude= --not --max-count= "
    "--skip= --since= --after= --until= --before= --author= --committer= --grep= --all-match "
    "--invert-grep --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp "
    "--merges --no-merges --first-parent --min-parents= --max-parents= --ancestry-path "
    "--simplify-by-decoration --full-history --boundary --left-right --left-only --right-only "
    "--cherry-pick --cherry-mark --cherry --reverse --topo-order --date-order "
    "--author-date-order --reflog --walk-reflogs -g --no-walk --abbrev-commit --no-abbrev-commit "
    "--oneline --pretty? --format= --date= --parents --children --graph --no-graph "
    "--encoding= --expand-tabs? --no-notes --relative-date --count "
    "--objects --dense --sparse --full-diff --no-expand-tabs"
)
_LOG: Final = (
    f"{_DIFF} {_REVISIONS} -L= -t -r -q --follow --decorate? --no-decorate --source --mailmap "
    "--use-mailmap --log-size --show-pulls --decorate-refs= --clear-decorations"
)

# Operands (revisions, paths) are taken by all of these.
READS: Final[dict[str, str]] = {
    "blame": (
        "-bcefklnpstw -M? -L= -C? -S= --root --show-stats --porcelain --line-porcelain "
        "--incremental --show-email --show-name --show-number --since= --date= --abbrev? "
        "--first-parent --reverse --ignore-rev= --color-lines --color-by-age"
    ),
    "cat-file": "-tspe --batch? --batch-check? --batch-all-objects --buffer --unordered",
    "check-ignore": "-qvzn --quiet --verbose --stdin --non-matching --no-index",
    "cherry": "-v --abbrev?",
    "count-objects": "-vH --verbose --human-readable",
    "describe": (
        "--all --tags --contains --long --always --abbrev? --dirty? --broken? --candidates= "
        "--exact-match --debug --match= --exclude= --first-parent"
    ),
    "diff": f"{_DIFF} --cached --staged --merge-base -q",
    "diff-files": f"{_DIFF} -q",
    "diff-index": f"{_DIFF} --cached --merge-base",
    "diff-tree": f"{_DIFF} -rtv --root --stdin --pretty? --format= --no-commit-id --always",
    "for-each-ref": (
        "--count= --sort= --format= --color? --points-at= --merged? --no-merged? --contains? "
        "--no-contains? --ignore-case -spt --stdin"
    ),
    "grep": (
        "-aiIwvhHEGPFnlLzcoprqW0 -A= -B= -C= -m= -e= -f= -# --text --ignore-case --word-regexp "
        "--invert-match --full-name --extended-regexp --basic-regexp --perl-regexp "
        "--fixed-strings --line-number --column --files-with-matches --name-only "
        "--files-without-match --null --only-matching --count --color? --no-color --break "
        "--heading --show-function --function-context --context= --after-context= "
        "--before-context= --max-count= --and --or --not --all-match --quiet --cached "
        "--untracked --no-index --exclude-standard --no-exclude-standard --max-depth= "
        "--recursive --no-recursive --threads= --and --no-textconv"
    ),
    "log": _LOG,
    "ls-files": (
        "-cdmoiskutvfz -x= -X= --cached --deleted --modified --others --ignored --stage "
        "--killed --unmerged --directory --no-empty-directory --eol --exclude= "
        "--exclude-from= --exclude-per-directory= --exclude-standard --error-unmatch "
        "--with-tree= --full-name --recurse-submodules --abbrev? --debug --format= --deduplicate"
    ),
    "ls-tree": (
        "-drtlz --name-only --name-status --long --full-name --full-tree --abbrev? --format="
    ),
    "merge-base": "-a --all --octopus --independent --is-ancestor --fork-point",
    "name-rev": "--tags --refs= --exclude= --all --name-only --no-undefined --always",
    "range-diff": f"{_DIFF} --creation-factor= --left-only --right-only --no-dual-color",
    "rev-list": f"{_REVISIONS} --quiet --header --timestamp --disk-usage? --unpacked",
    "rev-parse": (
        "-q --verify --quiet --short? --abbrev-ref? --symbolic --symbolic-full-name --all "
        "--branches? --tags? --remotes? --show-toplevel --show-prefix --show-cdup --git-dir "
        "--absolute-git-dir --git-common-dir --git-path= --is-inside-work-tree "
        "--is-inside-git-dir --is-bare-repository --is-shallow-repository --show-object-format "
        "--show-superproject-working-tree --revs-only --no-revs --flags --no-flags --not"
    ),
    "shortlog": f"{_REVISIONS} -nsec -w? --numbered --summary --email --group=",
    "show": _LOG,
    "show-branch": "-ar --all --remotes --current --topo-order --sparse --list --no-name",
    "show-ref": (
        "-qds --head --heads --tags --branches --verify --quiet --dereference --hash? --abbrev?"
    ),
    "status": (
        "-sbvz -u? --short --branch --porcelain? --long --verbose --untracked-files? --ignored? "
        "--ignore-submodules? --show-stash --ahead-behind --no-ahead-behind --renames "
        "--no-renames --find-renames? --column? --no-column"
    ),
    "version": "--build-options",
    "whatchanged": _LOG,
}

# Subcommands that list only in some forms: an operand may name what to make or set.
BRANCH: Final = (
    "-arvqil --all --remotes --verbose --list --show-current --color? --no-color --column? "
    "--no-column --ignore-case --sort= --format= --abbrev? --no-abbrev --contains? "
    "--no-contains? --points-at? --merged? --no-merged?"
)
TAG: Final = (
    "-li -n? --list --color? --column? --no-column --ignore-case --sort= --format= --contains? "
    "--no-contains? --points-at? --merged? --no-merged?"
)
CONFIG: Final = (
    "-lz --list --get --get-all --get-regexp --get-urlmatch --global --local --system "
    "--worktree --show-origin --show-scope --name-only --null --type= --bool --int --path "
    "--includes --no-includes --default="
)
CONFIG_GETS: Final = frozenset(("--get", "--get-all", "--get-regexp", "--get-urlmatch"))
_STASH_SHOW: Final = f"{_DIFF} --include-untracked --only-untracked --no-include-untracked"

# Forms of subcommands that only read, by their first word, each with its options. The form
# without such a word takes no operands.
FORMS: Final[dict[str, dict[str, str]]] = {
    "notes": {"list": "", "show": ""},
    "reflog": {"": _LOG, "show": _LOG, "list": "", "exists": ""},
    "remote": {"": "-v --verbose", "get-url": "--push --all"},
    "stash": {"list": _LOG, "show": _STASH_SHOW},
    "submodule": {},
    "worktree": {"list": "-vz --porcelain --verbose"},
    "bisect": {},
}
