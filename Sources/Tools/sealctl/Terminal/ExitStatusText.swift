/// The topic about exit statuses, made from the statuses themselves.
enum ExitStatusText {
    static var topic: String {
        let lines = ExitStatus.allCases.map { status in
            let number = String(status.rawValue)
            return String(repeating: " ", count: 3 - number.count) + number + "  " + status.meaning
        }
        return """
            \(lines.joined(separator: "\n"))

            From 64 on they are those of sysexits(3). 36, 44, 45 and 51 are the low bytes of
            the keychain's statuses, which users of macOS security know. With --json the
            error's code says more: sealctl help formats.
            """
    }
}

extension ExitStatus {
    /// What it says, in a few words.
    var meaning: String {
        switch self {
        case .success: "done"
        case .findings: "findings of an audit or a check; something fails (doctor)"
        case .locked: "the vault is locked"
        case .notFound: "no such record, item, slot, key, container or vault"
        case .duplicate: "it exists already"
        case .wrongPassphrase: "wrong passphrase, key file, credential or identity"
        case .usage: "wrong options, names or group"
        case .dataError: "refused data: no JSON, tampered, from elsewhere, rolled back"
        case .noInput: "the input file is not there, or no file"
        case .unavailable: "not now or not here: expired, a condition, no terminal"
        case .internalError: "a fault of sealctl"
        case .systemError: "the system lacks memory, descriptors or a feature"
        case .cannotCreate: "the output file cannot be made"
        case .inputOutput: "reading or writing failed, or the disk is full"
        case .temporary: "somebody else holds a lock: try again"
        case .newerVersion: "made by a newer version"
        case .noPermission: "the system's permissions refuse it"
        case .configuration: "modes, owners, variables or settings are not as they must be"
        }
    }
}
