import Glibc
import PropertyLists
import SealedState
import StateImport
import TestSupport
import Testing

/// The kinds of plaintext, and the sealed form of each.
enum PlaintextKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case record, file, defaults, aes
    var testDescription: String { rawValue }

    func contents() throws -> [UInt8] {
        switch self {
        case .record: Array(#"{"text":"plain"}"#.utf8)
        case .file: unevenBytes(70_000)
        case .defaults: try PlaintextImportSandbox.fixture("defaults.binary.plist")
        case .aes: try PlaintextImportSandbox.fixture("widget_auth_state.encrypted")
        }
    }
}

/// A file that another process moves in.
struct MovedPlace {
    let kind: PlaintextKind
    let name: String
    let sandbox: PlaintextImportSandbox

    var words: [String] {
        [
            "move-in", sandbox.fixture.place.path, sandbox.fixture.group.identifier, kind.rawValue, sandbox.path(name),
            name,
            sandbox.path("key.raw"),
        ]
    }

    var traced: TracedProcess { TracedProcess(words, log: sandbox.fixture.place.path + ".trace") }

    func run() throws -> String { try ChildProcess.run("sealed-probe", words).outputText.trimmingNewlines }

    /// Returns the plaintext, under its own name or set aside.
    func plaintext() throws -> [[UInt8]] {
        try sandbox.plaintext.filter { $0 == name || ($0.hasPrefix(".\(name).") && $0.hasSuffix(".moving")) }
            .map { try SystemFile.read(sandbox.path($0)) }
    }

    func isSealed(_ bytes: [UInt8]) throws -> Bool {
        do {
            switch kind {
            case .record: return try Array(sandbox.record(name).utf8) == bytes
            case .aes:
                return try Array(sandbox.record(name).utf8) == PlaintextImportSandbox.fixture("widget_auth_state.json")
            case .defaults:
                return try sandbox.fixture.open().defaults(suite: name).contents()
                    == PlaintextImportDefaultsTests.values
            case .file: return try sandbox.fixture.open().files.read(name) == bytes
            }
        } catch let error as StoreError where error.code == .absent {
            return false
        }
    }

    /// Returns the record's or the file's sequence.
    func sequence() throws -> UInt64? {
        if kind == .file { return try sandbox.fixture.open().files.info(of: name).provenance.sequence }
        guard kind == .record || kind == .aes else { return nil }
        return try sandbox.fixture.open().list().first { $0.name == name }?.provenance?.sequence
    }

    /// Expects that the move has left no other files.
    func expectClean(_ call: TracedProcess.Call) throws {
        #expect(try sandbox.fixture.staleFiles() == [], "\(call)")
        #expect(try sandbox.plaintext.allSatisfy { $0 == "key.raw" }, "\(call)")
    }

    /// Returns the calls of an undisturbed move, from the first that touches the file: those after which files can
    /// differ.
    static func calls(_ kind: PlaintextKind, _ sandbox: PlaintextImportSandbox) throws -> [TracedProcess.Call] {
        try sandbox.tutorial("key.raw")
        // The first move of a group makes directories and lock files.
        let first = MovedPlace(kind: kind, name: "first", sandbox: sandbox)
        try sandbox.file(first.name, kind.contents())
        #expect(try first.run() == "sealed")
        let place = MovedPlace(kind: kind, name: "undisturbed", sandbox: sandbox)
        try sandbox.file(place.name, kind.contents())
        let traced = place.traced
        defer { traced.removeLog() }
        #expect(try traced.run().outputText == "sealed\n")
        let calls = try traced.calls(from: "undisturbed")
        #expect(Set(calls.map(\.name)).isSuperset(of: ["linkat", "renameat2", "unlinkat", "fsync"]))
        return calls.filter { $0.name != "execve" && (isLongForm || $0.isChange || $0.name == "renameat2") }
    }
}
