/// What the command line asks for.
struct Options {
    /// The user's own state, to be signed in with.
    private(set) var statePath: String?
    /// Whether the temporary home stays for a closer look.
    private(set) var keepsHome = false
    private(set) var wantsHelp = false

    static let help = """
        usage: account-demo [--state FILE] [--keep]

        An app and its widget share one sealed record; then somebody tampers with it.

          --state FILE   sign in with the WidgetAuthState in a JSON file instead of Ada:
                         {"isAuthenticated": true, "displayName": "Grace", "tokenExpiresAt": "2031-01-01T12:00:00Z"}
          --keep         keep the temporary home, and say where it is

        SEALED_DEMO_BIN is the directory of account-app, account-widget and sealctl, this program's own unless set.
        NO_COLOR turns colours off.

        Exit status: 0 all went as it should, 1 something did not, 64 wrong usage, 65 the state file is no valid state,
        66 it cannot be read, 69 a program is missing.
        """

    /// - Throws: `Stop` `.usage`.
    init(_ arguments: some Sequence<String>) throws(Stop) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--state":
                guard let path = rest.popFirst(), !path.isEmpty else { throw .usage("--state needs a file") }
                guard !path.contains(where: \.isNewline) else { throw .usage("a file name of one line, please") }
                statePath = path
            case "--keep": keepsHome = true
            case "--help", "-h": wantsHelp = true
            default: throw .usage("'\(argument)' is no option; see --help")
            }
        }
    }
}
