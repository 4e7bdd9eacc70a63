import PropertyLists
import TestSupport
import Testing

@testable import XcodeEntitlements

/// The profiles of `Fixtures/profiles`, which `make.sh` there makes.
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

    /// `make.sh` makes the root anew with each run; its fingerprint lies beside the profiles.
    static func trust(_ root: String = "ours-root") throws -> ProfileTrust {
        ProfileTrust(
            roots: [try fingerprint(of: root)], deviceSigner: "Example Profile Signing",
            deviceAuthority: "Example Device Authority")
    }

    /// The SHA-256 of a certificate, told by the tool that made it: the library has none of its own without its trait.
    private static func fingerprint(of name: String) throws -> [UInt8] {
        let digits = Array(try bytes("\(name).sha256").prefix(64))
        return try stride(from: 0, to: digits.count, by: 2).map { start in
            try #require(UInt8(String(decoding: digits[start..<start + 2], as: UTF8.self), radix: 16))
        }
    }

    /// A moment in the year in which most of them count.
    static func date(_ text: String = "2026-11-21T00:00:00Z") throws -> PropertyListDate {
        var text = text
        return try #require(text.withUTF8 { CivilTime(UnsafeRawBufferPointer($0))?.date })
    }
}

/// What a call throws; nil where it throws nothing.
func provisioningFault(_ body: () throws -> Void) -> ProvisioningError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? ProvisioningError)?.code ?? ProvisioningError.Code(rawValue: "another error: \(error)")
    }
}
