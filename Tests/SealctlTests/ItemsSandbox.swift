import TestSupport
import Testing

/// The items of a sandbox.
extension Sandbox {
    /// Creates a sandbox whose vault opens with its key file, and with the passphrase in `files/pass`.
    static func withKeyFileAndPassphrase() throws -> Sandbox {
        let sandbox = try Sandbox()
        try sandbox.file("pass", Array("\(passphrase)\n".utf8))
        try sandbox.succeed([
            "vault", "create", "--default-key-file", "--passphrase-file", "pass", "--unlock-time", "1ms",
        ])
        return sandbox
    }

    func add(_ service: String, _ account: String, _ value: [UInt8], _ options: [String] = []) throws {
        try succeed(["vault", "add", "-s", service, "-a", account, "--value-file", "-"] + options, input: value)
    }

    func add(_ service: String, _ account: String, _ value: String, _ options: [String] = []) throws {
        try add(service, account, Array(value.utf8), options)
    }

    func value(_ service: String, _ account: String, _ options: [String] = []) throws -> [UInt8] {
        try succeed(["vault", "find", "-s", service, "-a", account, "-w"] + options).output
    }

    func items(_ options: [String] = []) throws -> [MachineItem] {
        try decode([MachineItem].self, succeed(["vault", "list", "--json"] + options).output)
    }
}

/// The output of `vault find --json`, and a line of `vault list --json`.
struct MachineItem: Decodable, Equatable {
    let service: String
    let account: String
    let label: String
    let accessibility: String
    let size: Int
    let createdAt: String
    let modifiedAt: String
}

/// An item's name in a report.
struct MachineItemName: Decodable, Equatable {
    let service: String
    let account: String
}

/// The output of `vault export --json`.
struct MachineExport: Decodable {
    let file: String
    let size: Int
    let items: Int
    let keys: Int
    let leftOut: [MachineItemName]
}

/// The output of `vault import --json`.
struct MachineImport: Decodable {
    struct SetAside: Decodable {
        let from: String
        let to: String
    }
    let isNewVault: Bool
    let setAside: [SetAside]
    let itemsAdded: [MachineItemName]
    let itemsReplaced: [MachineItemName]
    let itemsLeft: [MachineItemName]
    let keys: Int
}
