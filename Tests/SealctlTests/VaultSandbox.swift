import Glibc
import TestSupport
import Testing

/// The vaults of a sandbox and their credentials.
extension Sandbox {
    static let accessGroup = "ABCDE12345.com.example.app"
    static let passphrase = "correct horse battery staple"

    var accessVault: String { path("groups/Vaults/\(Self.accessGroup)/vault") }

    /// Creates a sandbox with a vault that opens with the passphrase in `files/pass`. `files/other` and `files/wrong`
    /// contain other passphrases.
    static func withPassphrase() throws -> Sandbox {
        let sandbox = try Sandbox()
        try sandbox.file("pass", Array("\(passphrase)\n".utf8))
        try sandbox.file("other", Array("another one\n".utf8))
        try sandbox.file("wrong", Array("wrong\n".utf8))
        // The costs are the lowest, because tests derive often.
        try sandbox.succeed(["vault", "create", "--passphrase-file", "pass", "--unlock-time", "1ms"])
        return sandbox
    }

    /// Creates an identity in the test's working directory and returns its recipient.
    func identity(_ name: String) throws -> String {
        let shown = try succeed(["vault", "identity", name]).outputText
        return String(shown.dropLast())
    }

    func slots(_ options: [String] = []) throws -> [MachineSlot] {
        try decode([MachineSlot].self, succeed(["vault", "slot", "list", "--json"] + options).output)
    }

    func status() throws -> MachineStatus {
        try decode(MachineStatus.self, sealctl(["vault", "status", "--json"]).output)
    }

    func keys(_ options: [String] = []) throws -> [MachineKey] {
        try decode([MachineKey].self, succeed(["vault", "keys", "--json"] + options).output)
    }

    /// Runs a body with the vault unlocked, and locks it afterwards, so that no key remains in the tests' keyring.
    func unlocked(_ options: [String], _ body: () throws -> Void) throws {
        defer { _ = try? sealctl(["vault", "lock", "--everything"]) }
        try succeed(["vault", "unlock"] + options)
        try body()
    }

    /// True if unlocked keys can be kept on this machine.
    static let canUnlock = (try? withPassphrase().status().unlockPlace) != nil

    /// Returns every file below the groups' home with its bytes.
    func everyFile() throws -> [String: [UInt8]] {
        let names = try shell("cd '\(path("groups"))' 2>/dev/null && find . -type f").outputText.split(separator: "\n")
        return try Dictionary(
            uniqueKeysWithValues: names.map { (String($0), try SystemFile.read(path("groups/\($0)"))) })
    }
}

/// A line of `vault slot list --json`.
struct MachineSlot: Decodable, Equatable {
    let id: UInt32
    let kind: String
    let reach: String
}

/// A line of `vault keys --json`.
struct MachineKey: Decodable, Equatable {
    let id: String
    let epoch: UInt32
    let state: String
}

/// The output of `vault status --json`.
struct MachineStatus: Decodable {
    struct Unlocked: Decodable {
        let unlocked: Bool
        let until: String?
    }
    let availability: String
    let afterFirstUnlock: Unlocked
    let whenUnlocked: Unlocked
    let unlockPlace: String?
    let slots: [MachineSlot]
    let unprotectedIdentities: [String]
    let generation: UInt64?
    let keys: [MachineKey]?
    let items: Int?
}
