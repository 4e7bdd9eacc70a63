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
        key or a value of the wrong kind is an error (78), and so is a file that other
        users can write or replace.
        sealctl --verbose prints the origin of each setting.
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
            ("SEALCTL_CONFIG", "the only configuration file that is read"),
            ("NO_COLOR, TERM=dumb", "no colours"),
            ("SEALED_USER_HOME", "the directory of this user's key files and watermarks"),
            ("SEALED_ENTITLEMENTS", "the entitlements that must contain the group"),
            ("CREDENTIALS_DIRECTORY", "the directory of the unit's credentials, set by systemd"),
            ("XDG_RUNTIME_DIR", "the place of unlocked keys without a kernel keyring"),
            ("VISUAL, EDITOR", "the editor of sealctl edit"),
        ]).text
    }
}

extension SettingName {
    /// The meaning in a few words.
    var meaning: String {
        switch self {
        case .group: "the app group, as --group"
        case .root: "the directory of the groups, as --root"
        case .vault: "a vault instead of the group's own, as --vault"
        case .keyFile: "the key file that opens the vault"
        case .identity: "the file of the identity that opens the vault"
        case .passphraseFile: "the file with the passphrase that opens the vault"
        case .credential: "the name of the credential that opens the vault"
        case .color: "colours: auto, always or never"
        case .noInput: "never ask, as --no-input"
        case .quiet: "only errors and warnings, as --quiet"
        case .verbose: "print what is opened and why, as --verbose"
        }
    }
}
