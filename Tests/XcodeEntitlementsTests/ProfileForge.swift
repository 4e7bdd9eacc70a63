import PropertyLists

@testable import XcodeEntitlements

/// A writer of DER for unsigned profiles that no tool makes.
enum ProfileForge {
    static let signedData: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
    static let data: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
    static let one: [UInt8] = [0x02, 0x01, 0x01]

    static func element(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
        let content = parts.flatMap(\.self)
        return [tag] + length(content.count) + content
    }

    static func length(_ count: Int) -> [UInt8] {
        if count < 0x80 { return [UInt8(count)] }
        let digits = (0..<8).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }.drop { $0 == 0 }
        return [0x80 | UInt8(digits.count)] + digits
    }

    /// Returns a message around contents.
    static func message(
        _ content: [UInt8], type: [UInt8] = signedData, contentType: [UInt8] = data, certificates: [UInt8] = [],
        signers: [UInt8] = element(0x30, one)
    ) -> [UInt8] {
        message(
            around: element(0x04, content), type: type, contentType: contentType, certificates: certificates,
            signers: signers)
    }

    /// Returns a message around contents that are encoded already.
    static func message(
        around content: [UInt8], type: [UInt8] = signedData, contentType: [UInt8] = data, certificates: [UInt8] = [],
        signers: [UInt8] = element(0x30, one)
    ) -> [UInt8] {
        let content = element(0x30, contentType, element(0xA0, content))
        let fields = element(0x30, one, element(0x31), content, certificates, element(0x31, signers))
        return element(0x30, type, element(0xA0, fields))
    }

    /// The minimum list of a profile.
    static let least: [String: PropertyListValue] = {
        let dates = [0.0, 86_400.0].compactMap(PropertyListDate.init(secondsSince2001:))
        return [
            "Name": .string("Example"), "UUID": .string("1-2-3"), "CreationDate": .date(dates[0]),
            "ExpirationDate": .date(dates[1]), "Entitlements": .dictionary([:]),
        ]
    }()

    static func profile(
        _ changes: [String: PropertyListValue?] = [:], as format: PropertyListFormat = .xml
    ) throws -> [UInt8] {
        var list = least
        for (key, value) in changes { list[key] = value }
        return message(try PropertyList.bytes(of: .dictionary(list), as: format))
    }
}
