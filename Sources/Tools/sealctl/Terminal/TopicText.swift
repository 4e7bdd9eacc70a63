/// Topics of fixed text. The text is not wrapped, so its lines have 80 columns at most.
enum TopicText {
    static let gettingStarted = """
        export SEALCTL_GROUP=group.com.example.app   # or --group G with each command
        sealctl init                                 # container, vault, first key
        echo '{"signedIn":true}' | sealctl put auth - --expires-in 1h
        sealctl get auth
        sealctl doctor                               # is everything set up?

        A program that uses SealedState and belongs to the same group reads what put
        sealed, and get prints what it wrote. Nothing in the container is readable
        without the group's vault.

        sealctl explain auth says check by check why a record is refused, watch shows
        changes as they come, and audit says what else lies in the container.
        """

    static let groups = """
        An app group is a set of programs that share one directory, its container, and
        one vault. Its identifier begins with group. or with a team's ten letters and
        digits: group.com.example.app, ABCDE12345.com.example.

        An access group is a vault alone: --access-group with the vault commands. Every
        app group is one as well.

        Containers, vaults, key files and what was accepted lie below one directory:
        --root DIR, else $SEALED_GROUPS_HOME, else where the XDG base directories say:
        ~/.local/share/sealed-groups, key files in ~/.config/sealed-groups, and what was
        accepted in ~/.local/state/sealed-groups.

        --vault DIR uses the vault in DIR in place of the group's own, such as a copy
        that was restored from a backup. A vault of another group is refused.
        """

    static let keys = """
        A vault has key slots, any one of which opens it:

          key file     the group's own is used unasked; --key-file FILE
          passphrase   --passphrase asks; --passphrase-file FILE, --passphrase-fd N
          identity     an X25519 key: --identity FILE
          credential   of the systemd unit, used unasked; --credential[=NAME]

        Without an option it is what $SEALCTL_KEY_FILE and the like or a configuration
        file say, else whatever is at hand: the group's key file, the unit's credential,
        or what the person has unlocked with sealctl vault unlock.

        A passphrase is never an argument: everybody on the machine can read arguments.
        --verbose says which slot opened the vault.

        Examples:
          sealctl vault slot list
          sealctl vault slot add --recipient sealed1...
          (umask 077; printf 'sealed-key-1 %s\\n' "$(openssl rand -hex 32)" > FILE)
        """

    static let formats = """
        Results go to standard output, everything else to standard error. The format
        does not depend on whether standard output is a terminal; only colours do
        (--no-color, NO_COLOR).

        For people: tables with aligned columns, two spaces or more between them, and a
        head in capitals. Control characters are shown as escapes, so that a row is one
        line. An error is a line "sealctl: what and why" and a line with what to do.

        For programs: --json. One line, fields in the documented order; what is not
        known is null. Errors are {"code", "message", "hint"} and warnings are
        {"warning", "message", "hint"}, one object a line on standard error. Codes are
        stable, wording is not. Times are RFC 3339 in UTC.

        Data: get, decrypt and vault find -w print what was sealed, byte for byte.
        Binary data goes to a terminal only with -o -.
        """

    static let auditing = """
        sealctl audit                                # the group's container
        sealctl audit ~/some-directory               # any directory, without keys
        sealctl audit --json

        The audit looks at permissions, the vault, sealed files, plaintext and what was
        left lying about, and changes nothing. With what opens the vault it opens every
        sealed file as well. Each finding has a stable id, a severity, a reason and a
        remedy; sealctl help audit has the options, docs/audit-checks.md the checks.

        Status 0 is a clean container, 1 one with findings, and 64 or more an audit that
        could not do its work.
        """
}
