import CryptoPrimitives
import Glibc
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

/// A directory with an access log under the key that `sealed-probe access-log` uses.
struct AccessLogFixture {
    static let entrySize = 256

    let place: TemporaryDirectory
    let directory: Directory
    let log: AccessLog

    init(maximumSize: Int64 = AccessLog.maximumSize) throws {
        place = try TemporaryDirectory()
        directory = try .open(place.path)
        log = Self.log(in: directory, maximumSize: maximumSize)
    }

    static func log(in directory: Directory, maximumSize: Int64 = AccessLog.maximumSize) -> AccessLog {
        let key = SecretBytes(count: 32) { for index in 0..<32 { $0[index] = UInt8(index) } }
        return AccessLog(directory: directory, mode: 0o600, keys: AccessLogKeys(key), maximumSize: maximumSize)
    }

    var path: String { place.path("access.log") }
    var olderPath: String { place.path("access.log.1") }

    func bytes() throws -> [UInt8] { try SystemFile.read(path) }
    func write(_ bytes: [UInt8]) throws { try SystemFile.write(path, bytes) }

    /// Changes one byte in place.
    func patch(_ path: String, _ offset: Int, _ byte: UInt8) throws {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        let written = withUnsafeBytes(of: byte) { pwrite(file, $0.baseAddress, 1, offset) }
        try #require(written == 1)
    }

    /// Returns the file's entries as they are stored.
    func slots() throws -> [[UInt8]] {
        let bytes = try bytes()
        return stride(from: 0, to: bytes.count, by: Self.entrySize).map {
            Array(bytes[$0..<min($0 + Self.entrySize, bytes.count)])
        }
    }

    /// Appends reads of `0`, `1`..., and returns the head.
    @discardableResult
    func append(_ count: Int) throws -> AccessLogHead {
        var head = AccessLogHead.empty
        for number in 0..<count {
            head = try log.append(.itemRead, subject: Array("\(number)".utf8), generation: 7)
        }
        return head
    }

    func noteFailedOpening() throws {
        try AccessLog.noteFailedOpening(in: directory, mode: 0o600, generation: 7)
    }

    func entries() throws -> [AccessEntry] {
        var entries: [AccessEntry] = []
        _ = try log.read(noted: nil) { entry, _ in entries.append(entry) }
        return entries
    }
}
