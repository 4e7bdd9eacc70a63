internal import PropertyLists
internal import SwiftASN1

/// Takes an X.509 certificate apart as far as people want to see it (RFC 5280, section 4.1).
enum CertificateReader {
    /// Apple's have some 1,500 bytes.
    static let largest = 64 << 10

    /// - Parameter place: what the certificate is called in an error.
    static func certificate(_ der: ArraySlice<UInt8>, at place: String) throws(ProvisioningError) -> ProfileCertificate
    {
        guard der.count <= largest else { throw .tooLarge(place, "it has more than \(largest) bytes") }
        try MessageSize.check(der, of: place)
        return try ASN1Reading.read(place, as: ProvisioningError.malformedCertificate) {
            try DER.sequence(try DER.parse(der), identifier: .sequence) { parts in
                let fields = try ASN1Reading.required(parts.next())
                // Algorithm and signature: a certificate has all three parts, or is none.
                _ = try ASN1Reading.elements(of: parts.next(), .sequence)
                _ = try ASN1Reading.bytes(of: parts.next(), .bitString)
                return try certificate(fields: fields, der: der)
            }
        }
    }

    private static func certificate(fields node: ASN1Node, der: ArraySlice<UInt8>) throws -> ProfileCertificate {
        var fields = try ASN1Reading.elements(of: node, .sequence).makeIterator()
        var field = fields.next()
        if field?.identifier == ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific) { field = fields.next() }
        let serialNumber = try ASN1Reading.bytes(of: field, .integer)
        _ = try ASN1Reading.elements(of: fields.next(), .sequence)
        let issuer = try DistinguishedName(fields.next())
        let validity = try ASN1Reading.elements(of: fields.next(), .sequence)
        guard validity.count == 2 else { throw ASN1Error.truncatedASN1Field() }
        let subject = try DistinguishedName(fields.next())
        return ProfileCertificate(
            commonName: subject.first(.NameAttributes.commonName),
            organization: subject.first(.NameAttributes.organizationName),
            organizationalUnit: subject.first(.NameAttributes.organizationalUnitName),
            issuerCommonName: issuer.first(.NameAttributes.commonName),
            serialNumber: Array(serialNumber.drop { $0 == 0 }),
            notBefore: try CertificateTime.date(validity[0]), notAfter: try CertificateTime.date(validity[1]),
            der: Array(der))
    }
}
