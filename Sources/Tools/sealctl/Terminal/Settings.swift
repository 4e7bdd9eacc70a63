internal import Glibc
internal import Synchronization

/// The settings of this run. A flag takes precedence over an environment variable, which takes precedence over a file.
struct Settings: Sendable {
    private static let held = Mutex(Settings())
    private let values: [SettingName: SettingValue]
    /// The configuration files that were read, and the paths of those that do not exist.
    let files: [ConfigurationPath]

    private init() {
        values = [:]
        files = []
    }

    init(_ layers: [SettingLayer], files: [ConfigurationPath] = []) {
        values = SettingResolver(layers).values()
        self.files = files
    }

    /// The settings of this run; empty before `begin(with:)`.
    static var current: Settings { held.withLock { $0 } }

    subscript(_ name: SettingName) -> SettingValue? { values[name] }

    /// Returns `true` if a switch is on.
    func isOn(_ name: SettingName) -> Bool { values[name]?.text == "true" }

    /// The settings that have a value, in their order, for people.
    var all: [(name: SettingName, value: SettingValue)] {
        SettingName.allCases.compactMap { name in values[name].map { (name, $0) } }
    }

    /// Reads the command line, the environment and the configuration files. It is called once, before other threads
    /// start.
    ///
    /// - Throws: `Failure` of status 78 for an invalid variable or file.
    static func begin(with flags: SettingLayer) throws(Failure) {
        // The verbosity is decided first, so that a refused file is reported as the flags require.
        let environment = try SettingLayer.fromEnvironment()
        held.withLock { $0 = Settings([flags, environment]) }
        let files = try ConfigurationFile.readAll()
        let settings = Settings([flags, environment] + files.layers, files: files.paths)
        try settings.requireOneCredential()
        held.withLock { $0 = settings }
        settings.applyRoot()
        settings.report()
    }

    /// Reads the same for shell completion, without reporting failures.
    static func beginIgnoringFailures() {
        guard current.values.isEmpty, let environment = try? SettingLayer.fromEnvironment() else { return }
        let layers = (try? ConfigurationFile.readAll())?.layers ?? []
        held.withLock { $0 = Settings([environment] + layers) }
        current.applyRoot()
    }

    /// The only credential that is set outside the command line, from the first source that has one.
    var credential: (name: SettingName, value: SettingValue)? {
        all.first { SettingName.credentials.contains($0.name) }
    }

    /// Refuses two credentials from one source. A source with one hides those of the later sources; see
    /// `SettingResolver`.
    private func requireOneCredential() throws(Failure) {
        let stated = all.filter { SettingName.credentials.contains($0.name) }
        guard stated.count > 1 else { return }
        throw Failure(
            .configuration, "badSetting",
            "\(stated.map(\.value.origin).joined(separator: " and ")) are set: only one credential can be set",
            hint: "Keep one of them.")
    }

    /// Sets the variable that the library and programs started by `exec` read.
    private func applyRoot() {
        guard let root = values[.root], root.origin != "$\(SettingName.root.variable)" else { return }
        setenv(SettingName.root.variable, root.text, 1)
    }

    private func report() {
        for file in files {
            ConsoleMessages.detail("configuration file \(file.path): \(file.wasRead ? "read" : "does not exist")")
        }
        for (name, value) in all where !name.isSwitch || value.text == "true" {
            ConsoleMessages.detail("\(name.rawValue) is \(value.text) (\(value.origin))")
        }
    }
}

/// The use of colours in text for people.
enum Appearance {
    /// Returns `true` if text may have colours. `--no-color`, `NO_COLOR` and a dumb terminal forbid them. Otherwise
    /// only terminals get colours, unless the setting is `always`.
    ///
    /// - Parameter isTerminal: True if the stream is a terminal.
    static func usesColor(onTerminal isTerminal: Bool) -> Bool {
        switch Settings.current[.color]?.text {
        case "never": false
        case "always": true
        default: isTerminal
        }
    }

    /// The use of colours on standard output.
    static var outputUsesColor: Bool { usesColor(onTerminal: StandardStreams.outputIsTerminal) }
}

/// A value that can be set for many commands: by a flag, an environment variable or a configuration file.
enum SettingName: String, CaseIterable, Sendable {
    /// The app group, or the access group.
    case group
    /// The directory of the groups.
    case root
    /// The vault's directory instead of the group's own.
    case vault
    case keyFile
    case identity
    case passphraseFile
    case credential
    /// `auto`, `always` or `never`.
    case color
    case noInput
    case quiet
    case verbose

    /// The credentials of a vault, of which at most one may be set.
    static let credentials: [SettingName] = [.keyFile, .identity, .passphraseFile, .credential]

    /// The environment variable.
    var variable: String {
        switch self {
        case .group: GroupOptions.variable
        case .root: "SEALED_GROUPS_HOME"
        case .vault: "SEALCTL_VAULT"
        case .keyFile: "SEALCTL_KEY_FILE"
        case .identity: "SEALCTL_IDENTITY"
        case .passphraseFile: "SEALCTL_PASSPHRASE_FILE"
        case .credential: "SEALCTL_CREDENTIAL"
        case .color: "SEALCTL_COLOR"
        case .noInput: "SEALCTL_NO_INPUT"
        case .quiet: "SEALCTL_QUIET"
        case .verbose: "SEALCTL_VERBOSE"
        }
    }

    /// The flag, for messages.
    var flag: String {
        switch self {
        case .group: "--group"
        case .root: "--root"
        case .vault: "--vault"
        case .keyFile: "--key-file"
        case .identity: "--identity"
        case .passphraseFile: "--passphrase-file"
        case .credential: "--credential"
        case .color: "--no-color"
        case .noInput: "--no-input"
        case .quiet: "--quiet"
        case .verbose: "--verbose"
        }
    }

    /// True for a setting that is either on or off.
    var isSwitch: Bool { [.noInput, .quiet, .verbose].contains(self) }

    /// True for the path of a file or directory.
    var isPath: Bool { [.root, .vault, .keyFile, .identity, .passphraseFile].contains(self) }

    /// The allowed words; `nil` if the code that uses the setting checks it.
    var words: [String]? { self == .color ? ["auto", "always", "never"] : nil }
}
