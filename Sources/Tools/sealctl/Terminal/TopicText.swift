/// Topics of fixed text. The text is not wrapped, so its lines have 80 columns at most.
enum TopicText {
    static let gettingStarted = """
        export SEALCTL_GROUP=group.com.example.app   # or --group G with each command
        sealctl init                                 # container, vault, first key
        echo '{"signedIn":true}' | sealctl put auth - --expires-in 1h
        sealctl get auth
        sealctl doctor                               # is everything set up?

        A program that uses SealedState and belongs to the same group reads the records
        that put sealed, and get prints the records that the program wrote. Nothing in
        the container is readable without the group's vault.

        sealctl explain auth shows the result of each check of a record, watch shows
        changes as they occur, and audit reports the contents of the container.
        """

    static let groups = """
        An app group is a set of programs that share one directory, its container, and
        one vault. Its identifier begins with group. or with a team's ten letters and
        digits: group.com.example.app, ABCDE12345.com.example.

        An access group is a vault alone: --access-group with the vault commands. Every
        app group is one as well.

        Containers, vaults, key files and watermarks are stored below one directory:
        --root DIR, otherwise $SEALED_GROUPS_HOME, otherwise the XDG base directories:
        ~/.local/share/sealed-groups, key files in ~/.config/sealed-groups, and
        watermarks in ~/.local/state/sealed-groups.

        --vault DIR uses the vault in DIR instead of the group's own, such as a copy
        that was restored from a backup. A vault of another group is refused.
        """

    static let keys = """
        A vault has key slots, any one of which opens it:

          key file     the group's own is used automatically; --key-file FILE
          passphrase   --passphrase asks; --passphrase-file FILE, --passphrase-fd N
          identity     an X25519 key: --identity FILE
          credential   of the systemd unit, used automatically; --credential[=NAME]

        Without an option sealctl uses $SEALCTL_KEY_FILE and similar variables or a
        configuration file, otherwise what is available: the group's key file, the
        unit's credential, or the keys that the person has unlocked with sealctl vault
        unlock.

        A passphrase is never an argument: all users of the machine can read arguments.
        --verbose prints the slot that opened the vault.

        Examples:
          sealctl vault slot list
          sealctl vault slot add --recipient sealed1...
          (umask 077; printf 'sealed-key-1 %s\\n' "$(openssl rand -hex 32)" > FILE)
        """

    static let formats = """
        Results go to standard output, everything else to standard error. The format
        does not depend on whether standard output is a terminal; only colours do
        (--no-color, NO_COLOR).

        For users: tables with aligned columns, two spaces or more between them, and a
        header in capitals. Control characters are shown as escapes, so that a row is
        one line. An error is a line "sealctl: problem and reason" and a line with the
        remedy.

        For programs: --json. One line, fields in the documented order; unknown values
        are null. Errors are {"code", "message", "hint"} and warnings are
        {"warning", "message", "hint"}, one object a line on standard error. Codes are
        stable, wording is not. Times are RFC 3339 in UTC.

        Data: get, decrypt and vault find -w print the sealed contents byte for byte.
        Binary data goes to a terminal only with -o -.
        """

    static let auditing = """
        sealctl audit                                # the group's container
        sealctl audit ~/some-directory               # any directory, without keys
        sealctl audit --json

        The audit examines permissions, the vault, sealed files, plaintext and leftover
        files, and changes nothing. With a credential of the vault it opens every sealed
        file as well. Each finding has a stable id, a severity, a reason and a remedy;
        sealctl help audit lists the options, docs/audit-checks.md the checks.

        Status 0 means a clean container, 1 a container with findings, and 64 or more
        that the audit failed.
        """
}
