public import PropertyLists

/// A certificate of a profile: a developer's, or one of those who signed it. Read, not verified.
public struct ProfileCertificate: Sendable, Hashable {
    /// The subject's common name, for example `Apple Development: Ada Example (ABCDE12345)`.
    public let commonName: String?
    /// The subject's organisation: the team's name in a developer's certificate.
    public let organization: String?
    /// The subject's organisational unit: the team identifier in a developer's certificate.
    public let organizationalUnit: String?
    /// The issuer's common name.
    public let issuerCommonName: String?
    /// The serial number, most significant byte first.
    public let serialNumber: [UInt8]
    /// The first moment of its validity.
    public let notBefore: PropertyListDate
    /// The last moment of its validity.
    public let notAfter: PropertyListDate
    /// The certificate itself, as DER.
    package let der: [UInt8]

    /// Whether a moment lies within its validity.
    public func isValid(at date: PropertyListDate) -> Bool {
        (notBefore.secondsSince2001...max(notBefore.secondsSince2001, notAfter.secondsSince2001))
            .contains(date.secondsSince2001)
    }
}

extension ProfileCertificate {
    /// What people call it: its name, or its serial number where it has none.
    public var title: String {
        commonName ?? "number " + serialNumber.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
