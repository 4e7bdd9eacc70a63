internal import SwiftASN1

/// A subject or an issuer: attributes with their texts, in the order of the certificate (RFC 5280, section 4.1.2.4).
struct DistinguishedName {
    /// The attributes whose values are texts.
    private let attributes: [(type: ASN1ObjectIdentifier, value: String)]

    /// Longer values are in no certificate that means well; RFC 5280 gives most attributes 64 characters.
    private static let longestValue = 1024

    init(_ node: ASN1Node?) throws {
        attributes = try ASN1Reading.elements(of: node, .sequence).flatMap { part in
            try ASN1Reading.elements(of: part, .set).compactMap { try Self.attribute($0) }
        }
    }

    /// The first value of a type.
    func first(_ type: ASN1ObjectIdentifier) -> String? { attributes.first { $0.type == type }?.value }

    private static func attribute(_ node: ASN1Node) throws -> (type: ASN1ObjectIdentifier, value: String)? {
        try DER.sequence(node, identifier: .sequence) { fields in
            let type = try ASN1ObjectIdentifier(derEncoded: &fields)
            return try text(of: try ASN1Reading.required(fields.next())).map { (type, $0) }
        }
    }

    /// Nil for what is no text.
    private static func text(of node: ASN1Node) throws -> String? {
        guard case .primitive(let bytes) = node.content else { return nil }
        guard bytes.count <= longestValue else { throw ASN1Error.invalidASN1Object(reason: "an over-long name") }
        switch node.identifier {
        case .utf8String, .printableString, .ia5String, .visibleString: return String(validating: bytes, as: UTF8.self)
        // Written as Latin-1 by everybody, whatever the standard says.
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
