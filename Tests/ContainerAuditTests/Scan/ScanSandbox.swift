import ContainerAudit
import FoundationEssentials
import Glibc
import TestSupport

/// A directory with planted secrets, audited without keys.
final class ScanSandbox: Sendable {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// The default key of fingerprints.
    static let key = FingerprintKey(bytes: [UInt8](0..<32))
    static let otherKey = FingerprintKey(bytes: [UInt8](1..<33))

    /// The time of audits, fixed so that two reports of the same files are the same.
    static let time = Date(timeIntervalSince1970: 1_795_000_000)

    /// Returns a value that has the form of a secret, another one for each number: an AWS access key's id.
    static func secret(_ number: UInt64) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        var generator = SeededGenerator(seed: number)
        return "AKIA" + String((0..<16).compactMap { _ in letters.randomElement(using: &generator) })
    }

    /// The check that finds the value.
    static let check = "token.aws"

    func put(_ relative: String, _ text: String) throws {
        var parent = directory.path
        for segment in relative.split(separator: "/").dropLast() {
            parent += "/\(segment)"
            mkdir(parent, 0o700)
        }
        try SystemFile.write(directory.path(relative), Array(text.utf8))
    }

    static func options(_ change: (inout AuditOptions) -> Void = { _ in }) -> AuditOptions {
        var options = AuditOptions()
        options.fingerprintKey = key
        change(&options)
        return options
    }

    func audit(_ change: (inout AuditOptions) -> Void = { _ in }) throws -> AuditReport {
        try ContainerAuditor(options: Self.options(change), now: { Self.time }).audit(path: directory.path)
    }

    /// Returns the findings of the planted secrets alone.
    func secrets(_ change: (inout AuditOptions) -> Void = { _ in }) throws -> [Finding] {
        try audit(change).findings.filter { $0.id == Self.check }
    }
}
