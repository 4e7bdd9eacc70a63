import AppGroups
import CryptoPrimitives
import Glibc
import SealedState
import Sealing
import StateImport
import TestSupport
import Testing

/// A group, and a directory for plaintext beside its home.
struct PlaintextImportSandbox {
    let fixture: StoreFixture
    let plain: TemporaryDirectory

    init() throws {
        fixture = try StoreFixture()
        plain = try TemporaryDirectory()
    }

    func path(_ name: String) -> String { plain.path(name) }

    @discardableResult
    func file(_ name: String, _ bytes: [UInt8], mode: UInt32 = 0o600) throws -> String {
        try SystemFile.write(path(name), bytes, mode: mode)
        return path(name)
    }

    @discardableResult
    func file(_ name: String, _ text: String) throws -> String { try file(name, Array(text.utf8)) }

    /// Writes a file in the state that a move leaves if it is killed before the removal.
    func setAside(_ name: String, _ bytes: [UInt8], below directory: String? = nil) throws {
        let root = directory ?? plain.path
        try SystemFile.write("\(root)/\(name)", bytes)
        var facts = stat()
        stat("\(root)/\(name)", &facts)
        rename("\(root)/\(name)", "\(root)/.\(name).\(facts.st_ino).moving")
    }

    /// Copies a file of `Fixtures/tutorial`.
    @discardableResult
    func tutorial(_ name: String) throws -> String { try file(name, Self.fixture(name)) }

    static func fixture(_ name: String) throws -> [UInt8] {
        let root = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
        return try SystemFile.read("\(root)/Fixtures/tutorial/\(name)")
    }

    func importer(_ change: (inout PlaintextImportOptions) -> Void = { _ in }) throws -> PlaintextImporter {
        var options = PlaintextImportOptions()
        change(&options)
        return PlaintextImporter(to: try fixture.open { $0.durability = .durable }, options: options)
    }

    /// Returns a record's contents as text, for any type.
    func record(_ name: String) throws -> String {
        try fixture.open().openPayload(named: name).plaintext.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    var plaintext: [String] { get throws { try SystemFile.names(plain.path) } }
}

extension MovedItem {
    /// The outcome's name.
    var word: String {
        switch outcome {
        case .sealed: "sealed"
        case .alreadySealed: "alreadySealed"
        case .gone: "gone"
        case .planned: "planned"
        case .left: "left"
        case .failed(let error): "failed \(error.code.rawValue)"
        }
    }
}

/// Returns bytes that are not text, the same for the same count.
func unevenBytes(_ count: Int) -> [UInt8] {
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15 &+ UInt64(count)
    return (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 33)
    }
}
