"""Commands that read: for each, the options that leave it so, and what its operands are.

A command is in the table only where it is sure that with these options it changes nothing, in
the versions of GNU, BSD, macOS and BusyBox alike. Where an option writes in one of them, it is
not listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Operands = Literal["paths", "pattern", "texts"]


@dataclass(frozen=True, slots=True)
class Reader:
    """A command that reads.

    Attributes:
        options: Its allow-list, as `toolflow.policy.shell.options` reads it.
        operands: ``paths`` that it reads; a ``pattern`` and then paths; ``texts``, which are no
            paths.
        here: Options with which it reads the folder that it runs in, where it has no path;
            ``*`` for always.
        free: Whether none of its options, listed or not, writes or runs anything.
        most: The most operands, or ``None``: one more would be a file that it writes.
        given: Options that give the pattern, so that all operands are paths.
        follows: Options with which it follows links out of the paths that it is given.
    """

    options: str = ""
    operands: Operands = "paths"
    here: str = ""
    free: bool = False
    most: int | None = None
    given: str = ""
    follows: str = ""


_GREP: Final = Reader(
    "-abcEFGHhIiLlnoPqRrsTUVvwxyZz -A= -B= -C= -D= -d= -e= -f< -m= -# --after-context= "
    "--before-context= --context= --binary-files= --text --byte-offset --color? --colour? "
    "--count --devices= --directories= --regexp= --file< --extended-regexp --fixed-strings "
    "--basic-regexp --perl-regexp --with-filename --no-filename --ignore-case "
    "--no-ignore-case --invert-match --files-with-matches --files-without-match "
    "--line-number --line-buffered --line-regexp --word-regexp --max-count= --null "
    "--null-data --only-matching --quiet --silent --recursive --dereference-recursive "
    "--no-messages --initial-tab --label= --include= --exclude= --exclude-from< "
    "--exclude-dir=",
    operands="pattern",
    here="-r -R --recursive --dereference-recursive",
    free=True,
    given="-e -f --regexp --file",
    follows="-R --dereference-recursive",
)
_RG: Final = Reader(
    "-acFHIiLlnNopPqsSUuvwx0. -A= -B= -C= -e= -E= -f< -g= -j= -m= -M= -r= -t= -T= -d= "
    "--after-context= --before-context= --context= --regexp= --file< --glob= --iglob= "
    "--type= --type-not= --max-count= --max-depth= --maxdepth= --hidden --no-hidden "
    "--no-ignore --no-ignore-vcs --no-ignore-parent --ignore-case --smart-case "
    "--case-sensitive --fixed-strings --word-regexp --line-regexp --invert-match --count "
    "--count-matches --files --files-with-matches --files-without-match --line-number "
    "--no-line-number --no-heading --heading --with-filename --no-filename "
    "--only-matching --json --multiline --multiline-dotall --pcre2 --color= --colors= "
    "--sort= --sortr= --stats --trim --type-list --vimgrep --column --replace= "
    "--threads= --max-columns= --null --text --unrestricted --no-messages --quiet "
    "--passthru --follow --no-config --no-require-git --max-filesize= --encoding= --version",
    operands="pattern",
    here="*",
    given="-e -f --regexp --file --files --type-list",
    follows="-L --follow",
)
_FD: Final = Reader(
    "-HIusigFapL01q -d= -t= -e= -E= -c= -S= -j= --hidden --no-ignore --no-ignore-vcs "
    "--unrestricted --case-sensitive --ignore-case --glob --fixed-strings --absolute-path "
    "--full-path --follow --print0 --max-results= --quiet --max-depth= --min-depth= "
    "--exact-depth= --type= --extension= --exclude= --size= --changed-within= "
    "--changed-before= --color= --threads= --strip-cwd-prefix --version",
    operands="pattern",
    here="*",
    follows="-L --follow",
)
_LS: Final = Reader(
    "-1aAbBcCdDfFgGhHiklLmnNopqQrRsStuUvxXZ -w= -I= --all --almost-all --author "
    "--block-size= --color? --directory --classify? --format= --full-time "
    "--group-directories-first --hide= --human-readable --si --indicator-style= --inode "
    "--ignore= --dereference --no-group --numeric-uid-gid --quote-name --quoting-style= "
    "--reverse --recursive --size --sort= --time= --time-style= --width= --zero --file-type "
    "--version --help",
    here="*",
    free=True,
    follows="-L --dereference",
)
_SORT: Final = Reader(
    "-bcCdfghiMnRrsuVz -k= -t= -S= --key= --field-separator= --buffer-size= --numeric-sort "
    "--reverse --unique --ignore-case --human-numeric-sort --version-sort --stable --check? "
    "--parallel= --zero-terminated --ignore-leading-blanks --dictionary-order "
    "--general-numeric-sort --month-sort --random-sort --ignore-nonprinting --version"
)
_DIFF: Final = Reader(
    "-abBcdeEiNnpqrstTuwyZ -C= -U= -I= -x= -L= -W= -# --brief --unified? --context? "
    "--recursive --report-identical-files --ignore-case --ignore-all-space "
    "--ignore-space-change --ignore-blank-lines --ignore-trailing-space --side-by-side "
    "--suppress-common-lines --color? --exclude= --new-file --text --width= --label= "
    "--minimal --strip-trailing-cr --no-dereference --normal --version",
    follows="-r --recursive",
)
_TREE: Final = Reader(
    "-adfhilpqrstuvcgCDFJNQSAnxX -L~ -P~ -I~ --dirsfirst --filesfirst --noreport --filelimit= "
    "--prune --du --si --gitignore --charset= --sort? --inodes --device --timefmt= "
    "--matchdirs --ignore-case --version",
    here="*",
    follows="-l",
)
_DU: Final = Reader(
    "-abchHklLmPsSx0 -d= -t= -B= --all --apparent-size --summarize --total --human-readable "
    "--bytes --max-depth= --exclude= --block-size= --time? --one-file-system --si "
    "--separate-dirs --threshold= --null",
    here="*",
    free=True,
    follows="-L -H",
)
_SUM: Final = Reader("-btz --tag --binary --text --zero", free=True)
_DIG: Final = Reader("-46ru -x= -t= -q= -c= -p= -b=", "texts")

READERS: Final = {
    "arch": Reader(operands="texts", most=0),
    "b2sum": _SUM,
    "basename": Reader("-az -s= --multiple --suffix= --zero", "texts", free=True),
    "cal": Reader("-13jmsy", "texts"),
    "cat": Reader(
        "-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank "
        "--show-tabs --show-nonprinting --version --help",
        free=True,
    ),
    "cksum": Reader(free=True),
    "cmp": Reader("-bls -i= -n= --print-bytes --verbose --silent --quiet --bytes="),
    "column": Reader("-tx -s= -c= -o= --table --separator= --output-separator="),
    "comm": Reader("-123z --check-order --nocheck-order --output-delimiter= --total"),
    "cut": Reader(
        "-nsz -b= -c= -d= -f= --complement --delimiter= --fields= --characters= --bytes= "
        "--only-delimited --output-delimiter= --zero-terminated",
        free=True,
    ),
    "df": Reader(
        "-ahHiklPT -B= -t= -x= --all --human-readable --si --inodes --local --portability "
        "--print-type --total --type= --exclude-type= --block-size= --output?",
        free=True,
    ),
    "diff": _DIFF,
    "dig": _DIG,
    "dirname": Reader("-z --zero", "texts", free=True),
    "du": _DU,
    "egrep": _GREP,
    "expand": Reader("-i -t= --initial --tabs="),
    "fd": _FD,
    "fdfind": _FD,
    "fgrep": _GREP,
    "file": Reader(
        "-bhiLkN0 -F= --brief --mime --mime-type --mime-encoding --dereference "
        "--no-dereference --keep-going --separator= --no-pad --extension"
    ),
    "fmt": Reader("-cstu -w= -p= --width="),
    "fold": Reader("-bs -w= --bytes --spaces --width=", free=True),
    "free": Reader("-bghklmtwv --human --mega --giga --total --wide", "texts", most=0),
    "grep": _GREP,
    "groups": Reader(operands="texts"),
    "head": Reader(
        "-qvz -n= -c= -# --lines= --bytes= --quiet --silent --verbose --zero-terminated",
        free=True,
    ),
    "hexdump": Reader("-bcCdovx -n= -s= -e="),
    "hostname": Reader("-fsdiIA --fqdn --long --short --domain", "texts", most=0),
    "id": Reader("-agGnruz --user --group --groups --name --real --zero", "texts"),
    "join": Reader("-iz -a= -e= -j= -1= -2= -o= -t= -v= --header"),
    "jq": Reader(
        "-nrcesSCMajR --null-input --raw-output --compact-output --exit-status --slurp "
        "--sort-keys --color-output --monochrome-output --ascii-output --join-output "
        "--raw-input --tab --indent= --version",
        operands="pattern",
        free=True,
    ),
    "logname": Reader(operands="texts", most=0),
    "ls": _LS,
    "md5": Reader("-qr"),
    "md5sum": _SUM,
    "nl": Reader("-p -b= -d= -f= -h= -i= -l= -n= -s= -v= -w=", free=True),
    "nproc": Reader("--all --ignore=", "texts", most=0),
    "od": Reader(
        "-abcdfhiloOsvxX -A= -j= -N= -t= -w? --address-radix= --skip-bytes= --read-bytes= "
        "--format= --output-duplicates --width?"
    ),
    "paste": Reader("-sz -d= --delimiters= --serial --zero-terminated", free=True),
    "pgrep": Reader("-acfilnovx -d= -g= -P= -s= -t= -u= -U= -G= --full --list-name", "texts"),
    "printenv": Reader("-0 --null", "texts"),
    "ps": Reader(
        "-AacdefFgHjlLmMNrSTvVwXxyZ -o= -O= -p= -u= -U= -C= -t= -G= -s= -k= --sort= --pid= "
        "--ppid= --format= --user= --no-headers --no-heading --forest --headers --deselect",
        "texts",
        free=True,
    ),
    "pwd": Reader("-LP --logical --physical", "texts", most=0),
    "readlink": Reader("-fenmqsvz --canonicalize --canonicalize-existing", free=True),
    "realpath": Reader(
        "-eELmPsqz --relative-to= --relative-base= --canonicalize-existing "
        "--canonicalize-missing --no-symlinks --strip --quiet --zero",
        free=True,
    ),
    "rev": Reader(free=True),
    "rg": _RG,
    "seq": Reader("-w -s= -f= --equal-width --separator= --format=", "texts"),
    "sha1sum": _SUM,
    "sha224sum": _SUM,
    "sha256sum": _SUM,
    "sha384sum": _SUM,
    "sha512sum": _SUM,
    "shasum": Reader("-btU -a= --algorithm= --binary --text"),
    "sleep": Reader(operands="texts"),
    "sort": _SORT,
    "stat": Reader(
        "-fLlnqrstx -c= -t --format= --printf= --terse --file-system --dereference", free=True
    ),
    "strings": Reader("-afo -n= -t= -e= -# --all --print-file-name --bytes= --radix="),
    "sum": Reader("-rs"),
    "tac": Reader("-br -s= --before --regex --separator=", free=True),
    "tail": Reader(
        "-fFqrvz -n= -c= -s= -# --lines= --bytes= --follow? --retry --pid= --quiet --silent "
        "--verbose --sleep-interval= --zero-terminated",
        free=True,
    ),
    "tr": Reader(
        "-cCdst --complement --delete --squeeze-repeats --truncate-set1", "texts", free=True
    ),
    "tree": _TREE,
    "tty": Reader("-s", "texts", most=0),
    "type": Reader("-aftpP", "texts"),
    "uname": Reader(
        "-amnoprsvi --all --kernel-name --kernel-release --machine --operating-system",
        "texts",
        most=0,
    ),
    "unexpand": Reader("-a -t= --all --tabs="),
    "uniq": Reader(
        "-cdDiuz -f= -s= -w= --count --repeated --all-repeated? --unique --ignore-case "
        "--skip-fields= --skip-chars= --check-chars= --zero-terminated",
        most=1,
    ),
    "uptime": Reader("-ps --pretty --since", "texts", most=0),
    "wc": Reader(
        "-clLmw --bytes --chars --lines --words --max-line-length --total= --version", free=True
    ),
    "which": Reader("-as --all", "texts", free=True),
    "whoami": Reader(operands="texts", most=0),
    "xxd": Reader("^ -abeEipuC -c= -g= -l= -o= -s=", most=1),
}

# What tells its version and ends, if that is all that it is asked.
VERSIONS: Final = {
    "bash": ("--version",),
    "clang": ("--version",),
    "cmake": ("--version",),
    "gcc": ("--version",),
    "make": ("--version",),
    "node": ("--version", "-v"),
    "perl": ("--version",),
    "python": ("--version", "-V"),
    "python3": ("--version", "-V"),
    "ruby": ("--version",),
}
