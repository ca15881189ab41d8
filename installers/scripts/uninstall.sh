#!/bin/sh
# Takes away what install.sh put there, and what cairn registered in other programs. Leaves the memory where it is.
set -eu

usage() {
	cat <<'END'
usage: uninstall.sh [--from DIR] [--force]

Disconnects the AI tools, removes the background service and the program.

  --from DIR   where the program is (default: ~/.local/bin)
  --force      remove the program even if a tool could not be disconnected
END
}

say() { printf '%s\n' "$1"; }

fail() {
	printf 'uninstall.sh: %s\n' "$1" >&2
	exit "${2:-1}"
}

main() {
	from=${HOME:?is not set}/.local/bin
	force=
	while [ $# -gt 0 ]; do
		case $1 in
		-h | --help)
			usage
			exit 0
			;;
		--from)
			[ $# -ge 2 ] || fail '--from needs a value' 2
			from=$2
			shift 2
			;;
		--force)
			force=yes
			shift
			;;
		*) fail "unknown argument: $1 (see --help)" 2 ;;
		esac
	done
	target=$from/cairn
	if [ ! -f "$target" ]; then
		say "There is no $target; nothing to do."
		exit 0
	fi
	# The tools go first: afterwards they would be told to start a program that is gone.
	if ! "$target" disconnect all && [ -z "$force" ]; then
		fail 'not all tools could be disconnected, see above; nothing was removed (--force goes on all the same)'
	fi
	"$target" agent uninstall || say 'There may be no background service here; going on.'
	"$target" agent stop || say 'No agent was stopped; going on.'
	rm -f -- "$target"
	say "Removed: $target"
	say "Your memory is still in ${CAIRN_HOME:-$HOME/.cairn}. Delete that directory only if you want to lose it."
}

main "$@"
