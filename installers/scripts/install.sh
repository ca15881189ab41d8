#!/bin/sh
# Installs cairn for the current user. Needs no root and downloads nothing.
set -eu

usage() {
	cat <<'END'
usage: install.sh [--from FILE] [--to DIR]

Puts the program cairn into DIR (default: ~/.local/bin).

  --from FILE   the program; by default the file "cairn" beside this script,
                or else one built with go from the checkout this script lies in
  --to DIR      where it goes

Run it again to upgrade. uninstall.sh takes cairn away again.
END
}

say() { printf '%s\n' "$1"; }

fail() {
	printf 'install.sh: %s\n' "$1" >&2
	exit "${2:-1}"
}

# Everything is in functions and starts on the last line, so that a script that was cut short does nothing.
main() {
	from=
	to=${HOME:?is not set}/.local/bin
	while [ $# -gt 0 ]; do
		case $1 in
		-h | --help)
			usage
			exit 0
			;;
		--from | --to)
			[ $# -ge 2 ] || fail "$1 needs a value" 2
			if [ "$1" = --from ]; then from=$2; else to=$2; fi
			shift 2
			;;
		*) fail "unknown argument: $1 (see --help)" 2 ;;
		esac
	done
	case $to in
	/*) ;;
	*) to=$PWD/$to ;;
	esac
	here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
	target=$to/cairn
	if [ -L "$target" ] || { [ -e "$target" ] && [ ! -f "$target" ]; }; then
		fail "$target is a link or a directory and was left as it is; move it away and try again"
	fi
	mkdir -p -- "$to"
	fresh=$to/.cairn.new.$$
	trap 'rm -f -- "$fresh"' EXIT
	trap 'exit 1' HUP INT TERM
	bring
	place
	next_steps
}

# bring puts the new program at $fresh.
bring() {
	if [ -z "$from" ] && [ -f "$here/cairn" ]; then
		from=$here/cairn
	fi
	if [ -n "$from" ]; then
		[ -f "$from" ] || fail "there is no file $from"
		cp -- "$from" "$fresh"
		return
	fi
	root=$here/../..
	if ! grep -qx 'module cairn' "$root/go.mod" 2>/dev/null; then
		fail 'there is no program beside this script; say where it is with --from FILE'
	fi
	command -v go >/dev/null 2>&1 || fail 'go is needed to build cairn; or say where a built program is with --from FILE'
	say 'Building cairn ...'
	(cd -- "$root" && CGO_ENABLED=0 go build -trimpath -o "$fresh" ./cmd/cairn) || fail 'cairn could not be built; nothing was changed'
}

# place moves the new program to $target in one step, if it runs here and is another one.
place() {
	chmod 755 "$fresh"
	if command -v xattr >/dev/null 2>&1; then
		xattr -d com.apple.quarantine "$fresh" 2>/dev/null || : # there is none on what was built here
	fi
	version=$("$fresh" version 2>/dev/null) || fail 'the program does not run on this machine; nothing was changed'
	if cmp -s -- "$fresh" "$target"; then
		say "cairn is already there: $target"
		return
	fi
	if [ -e "$target" ]; then
		say 'An agent that runs goes on with the old program until it ends: cairn agent stop'
	fi
	mv -f -- "$fresh" "$target"
	say "Installed: $target ($version)"
}

next_steps() {
	case :${PATH:-}: in
	*:"$to":*) ;;
	*)
		say ''
		say "$to is not in your PATH. Add this line to your shell's profile:"
		say "  export PATH=\"$to:\$PATH\""
		;;
	esac
	say ''
	say 'Next:'
	say '  cairn init           make the store on this machine'
	say '  cairn connect all    connect the AI tools that are here (add --dry-run to look first)'
	say '  cairn join INVITE    share with your other machines, if you have a hub'
}

main "$@"
