/// Help that is longer than a line.
enum HelpText {
    static let root = """
        A record is JSON with a name and a schema version, sealed into a file of the group's container. A stream is \
        a file or pipe of any size. Results go to standard output, everything else to standard error.

        Examples:
          sealctl init --group group.com.example.app
          echo '{"signedIn":true}' | sealctl put auth - --expires-in 1h
          sealctl get auth
          sealctl encrypt -o backup.sealed backup.tar
          sealctl audit

        The examples after the first expect SEALCTL_GROUP to name the group.

        Exit status: 0 done, 1 audit findings, 36 vault locked, 44 not found, 45 exists already, 51 wrong passphrase \
        or key file, 64 usage, 65 refused data, 66 no input file, 69 expired or no terminal, 70 internal fault, \
        71 system, 73 cannot create output, 74 input or output failed, 75 try again, 76 made by a newer version, \
        77 no permission, 78 unsafe modes or settings.
        """
}
