/// The topics about settings, generated from the settings themselves.
enum SettingText {
    static var configuration: String {
        """
        A flag goes before a variable, a variable before a file. The files are, the
        first before the second:

          $XDG_CONFIG_HOME/sealedstate/config.json (~/.config/sealedstate/config.json)
          /etc/sealedstate/config.json

        $SEALCTL_CONFIG names one file in place of both. A file is one JSON object:

          { "group": "group.com.example.app", "noInput": true }

        \(list { "\"\($0.rawValue)\"" })

        Relative paths begin at the file's directory, ~/ is the home directory. One of
        keyFile, identity, passphraseFile and credential may be set. A file with another
        key or a value of the wrong kind is an error (78), and so is one that others may
        write, or that lies where others may put another in its place.
        sealctl --verbose says where each setting came from.
        """
    }

    static var environment: String {
        """
        \(list { $0.variable })

        \(others)

        An empty variable counts as unset, except SEALED_GROUPS_HOME, which is refused
        then. Flags go before variables: sealctl help configuration.
        """
    }

    private static func list(_ name: (SettingName) -> String) -> String {
        var fields = FieldList()
        for setting in SettingName.allCases { fields.add(name(setting), setting.meaning) }
        return fields.text
    }

    private static var others: String {
        FieldList([
            ("SEALCTL_CONFIG", "the one configuration file that is read"),
            ("NO_COLOR, TERM=dumb", "no colours"),
            ("SEALED_USER_HOME", "where this user's own key files and watermarks are"),
            ("SEALED_ENTITLEMENTS", "the entitlements that have to hold the group"),
            ("CREDENTIALS_DIRECTORY", "where systemd puts the unit's credentials"),
            ("XDG_RUNTIME_DIR", "where unlocked keys stay without a kernel keyring"),
            ("VISUAL, EDITOR", "the editor of sealctl edit"),
        ]).text
    }
}

extension SettingName {
    /// The meaning in a few words.
    var meaning: String {
        switch self {
        case .group: "the app group, as --group"
        case .root: "the directory in which groups lie, as --root"
        case .vault: "a vault in place of the group's own, as --vault"
        case .keyFile: "the key file that opens the vault"
        case .identity: "the file of the identity that opens the vault"
        case .passphraseFile: "the file with the passphrase that opens the vault"
        case .credential: "the name of the credential that opens the vault"
        case .color: "colours: auto, always or never"
        case .noInput: "never ask, as --no-input"
        case .quiet: "only errors and warnings, as --quiet"
        case .verbose: "say what is opened and why, as --verbose"
        }
    }
}
