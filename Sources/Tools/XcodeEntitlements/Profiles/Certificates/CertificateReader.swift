internal import PropertyLists
internal import SwiftASN1

/// Parses the parts of an X.509 certificate that are displayed (RFC 5280, section 4.1).
enum CertificateReader {
    /// The size limit. Apple's certificates have some 1,500 bytes.
    static let largest = 64 << 10

    /// - Parameter place: The certificate's name in an error.
    static func certificate(_ der: ArraySlice<UInt8>, at place: String) throws(ProvisioningError) -> ProfileCertificate
    {
        guard der.count <= largest else { throw .tooLarge(place, "it has more than \(largest) bytes") }
        try MessageSize.check(der, of: place)
        return try ASN1Reading.read(place, as: ProvisioningError.malformedCertificate) {
            try DER.sequence(try DER.parse(der), identifier: .sequence) { parts in
                let fields = try ASN1Reading.required(parts.next())
                // Algorithm and signature: a certificate must have all three parts.
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

/// The times of certificates: two digits of the year up to 2049, four after that (RFC 5280, section 4.1.2.5).
enum CertificateTime {
    static func date(_ node: ASN1Node?) throws -> PropertyListDate {
        let node = try ASN1Reading.required(node)
        if node.identifier == .utcTime {
            let time = try UTCTime(derEncoded: node)
            return try date((time.year, time.month, time.day), (time.hours, time.minutes, time.seconds))
        }
        let time = try GeneralizedTime(derEncoded: node)
        return try date((time.year, time.month, time.day), (time.hours, time.minutes, time.seconds))
    }

    private static func date(_ day: (Int, Int, Int), _ clock: (Int, Int, Int)) throws -> PropertyListDate {
        let time = CivilTime(
            year: day.0, month: day.1, day: day.2, hour: clock.0, minute: clock.1, second: clock.2)
        guard let time, time.year >= 1000, time.second < 60, let date = time.date else {
            throw ASN1Error.invalidASN1Object(reason: "an invalid time")
        }
        return date
    }
}

/// A subject or an issuer: attributes with their texts, in the order of the certificate (RFC 5280, section 4.1.2.4).
struct DistinguishedName {
    /// The attributes whose values are texts.
    private let attributes: [(type: ASN1ObjectIdentifier, value: String)]

    /// The limit on a value's length. RFC 5280 allows 64 characters for most attributes.
    private static let longestValue = 1024

    init(_ node: ASN1Node?) throws {
        attributes = try ASN1Reading.elements(of: node, .sequence).flatMap { part in
            try ASN1Reading.elements(of: part, .set).compactMap { try Self.attribute($0) }
        }
    }

    /// Returns the first value of a type.
    func first(_ type: ASN1ObjectIdentifier) -> String? { attributes.first { $0.type == type }?.value }

    private static func attribute(_ node: ASN1Node) throws -> (type: ASN1ObjectIdentifier, value: String)? {
        try DER.sequence(node, identifier: .sequence) { fields in
            let type = try ASN1ObjectIdentifier(derEncoded: &fields)
            return try text(of: try ASN1Reading.required(fields.next())).map { (type, $0) }
        }
    }

    /// Returns a text, or `nil` if the value is not a text.
    private static func text(of node: ASN1Node) throws -> String? {
        guard case .primitive(let bytes) = node.content else { return nil }
        guard bytes.count <= longestValue else { throw ASN1Error.invalidASN1Object(reason: "an over-long name") }
        switch node.identifier {
        case .utf8String, .printableString, .ia5String, .visibleString: return String(validating: bytes, as: UTF8.self)
        // In practice this type contains Latin-1, contrary to the standard.
        case .teletexString: return String(bytes.map { Character(Unicode.Scalar($0)) })
        case .bmpString: return wide(bytes)
        default: return nil
        }
    }

    private static func wide(_ bytes: ArraySlice<UInt8>) -> String? {
        guard bytes.count.isMultiple(of: 2) else { return nil }
        let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }
        return String(validating: units, as: UTF16.self)
    }
}
