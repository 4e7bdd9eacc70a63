import CryptoPrimitives
import FoundationEssentials
import Glibc
import KeyVault
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import SealedState

/// A home with a group whose keys are rotated.
struct RotationSandbox {
    let fixture: StoreFixture
    let store: SealedStore
    /// The key of epoch 1.
    let oldKey: SealingKey

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        oldKey = try store.vault.activeKey()
    }

    /// Options without syncs, for tests of other topics.
    func options(_ change: (inout RotationOptions) -> Void = { _ in }) -> RotationOptions {
        var options = RotationOptions()
        options.durability = .unsynced
        change(&options)
        return options
    }

    @discardableResult
    func rotate(_ change: (inout RotationOptions) -> Void = { _ in }) throws(StoreError) -> RotationReport {
        try store.rotate(options(change))
    }

    /// Writes records `r0`, `r1`, …
    func write(_ count: Int) throws {
        for number in 0..<count { try store.write(ProbeRecord(number: number), named: "r\(number)") }
    }

    func path(_ relative: String) -> String { "\(fixture.container)/\(relative)" }

    func header(_ relative: String) throws -> BlobHeader {
        try UnverifiedHeader(parsing: SystemFile.read(path(relative))).claimed
    }

    func header(ofRecord name: String) throws -> BlobHeader {
        try UnverifiedHeader(parsing: fixture.blob(name)).claimed
    }

    /// The epochs of the records `r0`, `r1`, …
    func epochs(_ count: Int) throws -> [UInt32] { try (0..<count).map { try header(ofRecord: "r\($0)").epoch } }

    // MARK: Streams

    var streamContext: BlobContext { BlobContext(group: fixture.group.identifier, kind: .stream, name: "") }

    /// Returns contents that differ from chunk to chunk.
    static func contents(_ size: Int) -> [UInt8] { (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ ($0 >> 16)) } }

    func sealStream(_ contents: [UInt8], key: SealingKey? = nil, at sealedAt: UInt64 = 1_700_000_000_000) -> [UInt8] {
        contents.withRawBytes {
            BlobSealer.seal(
                $0, as: BlobDescription(stream: streamContext, sealedAt: sealedAt), key: key ?? oldKey)
        }
    }

    /// Puts a stream into the container, making its directory.
    func plantStream(_ relative: String, _ contents: [UInt8], mode: UInt32 = 0o640, key: SealingKey? = nil) throws {
        try plant(relative, sealStream(contents, key: key), mode: mode)
    }

    func plant(_ relative: String, _ bytes: [UInt8], mode: UInt32 = 0o600) throws {
        if let slash = relative.lastIndex(of: "/") { mkdir(path(String(relative[..<slash])), 0o700) }
        try SystemFile.write(path(relative), bytes, mode: mode)
    }

    func openStream(_ relative: String) throws -> [UInt8] {
        let blob = try SystemFile.read(path(relative))
        return try blob.withRawBytes { blob in
            try BlobOpener.open(
                blob, context: streamContext, keys: store.vault.currentKeyring(), limit: blob.count
            ).plaintext.withUnsafeBytes { Array($0) }
        }
    }

    /// Creates a record's blob as a holder of the old key does.
    func forge(_ name: String, sequence: UInt64) throws -> [UInt8] {
        var forgery = try Forgery(store)
        forgery.key = oldKey
        forgery.name = name
        forgery.schemaVersion = 1
        forgery.sequence = sequence
        forgery.payload = .bytes(Array(#"{"number":666,"text":""}"#.utf8))
        return forgery.blob
    }

    func child(_ command: String, _ arguments: String...) throws -> ChildProcess {
        try ChildProcess(
            "sealed-probe", [command, fixture.place.path, fixture.group.identifier] + arguments,
            environment: ["SWIFT_BACKTRACE": "enable=no"])
    }
}
