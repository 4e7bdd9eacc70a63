import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// The output of `snapshot restore --json`.
struct MachineRestoration: Decodable {
    struct Record: Decodable, Equatable {
        let name: String
        let effect: String
        let replaces: String?
        let code: String?
    }
    let group: String
    let isDone: Bool
    let records: [Record]
    let otherFiles: Int

    func effect(_ name: String) -> String? { records.first { $0.name == name }?.effect }
    func code(_ name: String) -> String? { records.first { $0.name == name }?.code }
    func replaces(_ name: String) -> String? { records.first { $0.name == name }?.replaces }
}

/// The report of a restoration with its status and the code of its failure.
struct RestoreOutcome {
    let status: Int32
    let code: String?
    let report: MachineRestoration

    init(_ sandbox: Sandbox, _ options: [String] = [], of snapshot: String = "d") throws {
        let result = try sandbox.sealctl(["snapshot", "restore", snapshot, "--json"] + options)
        guard let line = result.outputText.split(separator: "\n").first else { throw Unexpected(result) }
        report = try decode(MachineRestoration.self, Array(line.utf8))
        status = result.exitCode
        code = status == 0 ? nil : try decode(MachineError.self, result.errors).code
    }
}

extension Sandbox {
    /// A group with two records, a sealed file, a setting and a snapshot `d` of them.
    static func withSnapshot() throws -> Sandbox {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", #"{"n":1}"#)
        try sandbox.put("deep/er", #"{"n":2}"#)
        try sandbox.succeed(["file", "put", "lists/f", "-", "--type", "text/plain"], input: noise(200_000))
        try sandbox.succeed(["defaults", "write", "suite", "k", "v"])
        try sandbox.succeed(["snapshot", "-o", "d"])
        return sandbox
    }

    func loseContainer() throws {
        try shell("rm -rf '\(container)'")
        try succeed(["init"])
    }

    func value(_ name: String) throws -> String {
        try succeed(["get", name]).outputText.filter { !$0.isWhitespace }
    }

    func sequence(_ name: String) throws -> UInt64? {
        try decode([MachineRecord].self, succeed(["list", "--json"]).output).first { $0.name == name }?.sequence
    }

    /// The times at which the records were sealed.
    func times() throws -> [String?] {
        try decode([MachineRecord].self, succeed(["list", "--json"]).output).map(\.sealedAt)
    }

    /// The path of the only contents of a sealed file below a container.
    func contents(of container: String) throws -> String {
        "\(container)/Files/.contents/" + (try SystemFile.names(container + "/Files/.contents").first ?? "")
    }

    func requireEverything() throws {
        #expect(try value("a") == #"{"n":1}"#)
        #expect(try value("deep/er") == #"{"n":2}"#)
        #expect(try succeed(["file", "cat", "lists/f"]).output == noise(200_000))
        #expect(try succeed(["defaults", "read", "suite", "k"]).outputText == "v\n")
    }
}
