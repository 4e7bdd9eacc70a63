/// What a person may set once for many commands: by a flag, a variable of the environment, or a configuration file.
enum SettingName: String, CaseIterable, Sendable {
    /// The app group, or the access group.
    case group
    /// Where groups lie.
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

    /// What opens a vault: one of them may be set, not two.
    static let credentials: [SettingName] = [.keyFile, .identity, .passphraseFile, .credential]

    /// The variable of the environment.
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

    /// Whether it is on or off, and nothing else.
    var isSwitch: Bool { [.noInput, .quiet, .verbose].contains(self) }

    /// Whether it is the path of a file or directory.
    var isPath: Bool { [.root, .vault, .keyFile, .identity, .passphraseFile].contains(self) }

    /// What it may be; nil where that is for its user to judge.
    var words: [String]? { self == .color ? ["auto", "always", "never"] : nil }
}
