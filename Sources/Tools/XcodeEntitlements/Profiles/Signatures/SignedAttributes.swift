#if ProfileSignatures
internal import SwiftASN1

/// The signed attributes beside the contents (RFC 5652, section 11): the contents' type and digest.
struct SignedAttributes {
    let contentDigest: ArraySlice<UInt8>

    private static let contentType: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 3]
    private static let messageDigest: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 4]
    private static let data: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 1]

    /// - Parameter bytes: A SET of attributes.
    init(parsing bytes: ArraySlice<UInt8>) throws(SignatureFault) {
        do {
            let attributes = try ASN1Reading.elements(of: try DER.parse(bytes), .set)
            // The contents' type must be plain data. Another type would make these the attributes of another message.
            let type = try ASN1ObjectIdentifier(derEncoded: try Self.value(of: Self.contentType, in: attributes))
            guard type == Self.data else { throw SignatureFault("it covers contents of another type") }
            let digest = try Self.value(of: Self.messageDigest, in: attributes)
            contentDigest = try ASN1Reading.bytes(of: digest, .octetString)
        } catch let fault as SignatureFault {
            throw fault
        } catch {
            throw SignatureFault("its signed attributes break their syntax")
        }
    }

    /// Returns the only value of the only attribute of a type; section 11 requires exactly one of each.
    private static func value(of type: ASN1ObjectIdentifier, in attributes: [ASN1Node]) throws -> ASN1Node {
        let found = try attributes.filter { attribute in
            try ASN1ObjectIdentifier(derEncoded: try ASN1Reading.required(try fields(of: attribute).first)) == type
        }
        guard found.count == 1, let fields = try found.first.map(fields(of:)), fields.count == 2 else {
            throw SignatureFault("a required signed attribute is missing or duplicated")
        }
        let values = try ASN1Reading.elements(of: fields[1], .set)
        guard values.count == 1 else { throw SignatureFault("a signed attribute does not have exactly one value") }
        return values[0]
    }

    private static func fields(of attribute: ASN1Node) throws -> [ASN1Node] {
        try ASN1Reading.elements(of: attribute, .sequence)
    }
}
#endif
