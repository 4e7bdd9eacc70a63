import PropertyLists
import TestSupport
import Testing

@testable import XcodeEntitlements

/// The profiles of `Fixtures/profiles`, which `make.sh` there creates.
enum ProfileFixture {
    static func bytes(_ name: String, file: String = #filePath) throws -> [UInt8] {
        try SystemFile.read(path(name, file: file))
    }

    static func path(_ name: String, file: String = #filePath) -> String {
        file.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/\($1)" } + "/Fixtures/profiles/\(name)"
    }

    static func profile(_ name: String) throws -> ProvisioningProfile {
        try ProvisioningProfile(parsing: bytes(name), trusting: trust())
    }

    /// Returns the trust in a root, which `make.sh` creates in each run; its fingerprint is beside the profiles.
    static func trust(_ root: String = "ours-root") throws -> ProfileTrust {
        ProfileTrust(
            roots: [try fingerprint(of: root)], deviceSigner: "Example Profile Signing",
            deviceAuthority: "Example Device Authority")
    }

    /// Returns the SHA-256 of a certificate, from the tool that made it: the library has no SHA-256 without its trait.
    private static func fingerprint(of name: String) throws -> [UInt8] {
        let digits = Array(try bytes("\(name).sha256").prefix(64))
        return try stride(from: 0, to: digits.count, by: 2).map { start in
            try #require(UInt8(String(decoding: digits[start..<start + 2], as: UTF8.self), radix: 16))
        }
    }

    /// Returns a date, by default in the year in which most of them are valid.
    static func date(_ text: String = "2026-11-21T00:00:00Z") throws -> PropertyListDate {
        var text = text
        return try #require(text.withUTF8 { CivilTime(UnsafeRawBufferPointer($0))?.date })
    }
}

/// Returns the code of the error that a call throws, or `nil` if it throws none.
func provisioningFault(_ body: () throws -> Void) -> ProvisioningError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? ProvisioningError)?.code ?? ProvisioningError.Code(rawValue: "another error: \(error)")
    }
}
