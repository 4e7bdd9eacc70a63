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
