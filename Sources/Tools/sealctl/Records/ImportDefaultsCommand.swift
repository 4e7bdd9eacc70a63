internal import ArgumentParser
internal import SealedState

/// `sealctl import defaults`: a property list of `UserDefaults` becomes a suite.
struct ImportDefaultsCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "defaults",
        abstract: "Make a suite of defaults of a property list that UserDefaults has written.",
        discussion: """
            XML and binary property lists, Apple's and swift-corelibs-foundation's. All values go in with one write; \
            what else the suite holds stays. Keyed archives come in as the bytes that they are, and are named.

            Examples:
              sealctl import defaults group.com.example.app.plist
              sealctl import defaults old.plist --suite com.example.app
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(help: ArgumentHelp("The property list.", valueName: "file"), completion: .file())
    var file: String
    @Option(
        help: ArgumentHelp("The suite; the file's name without .plist unless stated.", valueName: "SUITE"))
    var suite: String?
    @OptionGroup var moving: MovingOptions
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        try FileMove(groupOptions: groupOptions, keyOptions: keyOptions, moving: moving, output: output).run {
            moving throws(StoreError) in try moving.defaults(file, suite: suite)
        }
    }
}
