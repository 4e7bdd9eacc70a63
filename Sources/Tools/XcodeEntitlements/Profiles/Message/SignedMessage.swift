internal import SwiftASN1

/// A message of the Cryptographic Message Syntax (RFC 5652) with its contents in it, taken apart. Nothing is verified.
///
/// Apple writes DER; streaming signers write BER, with lengths left open and contents in pieces. Both are read.
struct SignedMessage: Sendable, Hashable {
    /// What is signed.
    let content: ArraySlice<UInt8>
    /// The certificates that came along, each as DER.
    let certificates: [ArraySlice<UInt8>]
    /// The signers' parts, each as it is encoded.
    let signers: [ArraySlice<UInt8>]

    private static let data: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 1]
    private static let signedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 2]

    init(parsing bytes: [UInt8]) throws(ProvisioningError) {
        guard bytes.first == 0x30 else { throw .notSigned(Self.unlike(bytes)) }
        try MessageSize.check(bytes[...], of: "signed message")
        self = try ASN1Reading.read("signed message") { try Self(content: try BER.parse(bytes)) }
    }

    /// What a file that is no message looks like.
    private static func unlike(_ bytes: [UInt8]) -> String {
        if bytes.isEmpty { return "it is empty" }
        if bytes.starts(with: "<?xml".utf8) || bytes.starts(with: "bplist".utf8) {
            return "it is a property list that nobody signed"
        }
        return "it does not begin like a signed message"
    }

    /// ContentInfo, section 3.
    private init(content node: ASN1Node) throws {
        self = try BER.sequence(node, identifier: .sequence) { fields in
            guard try ASN1ObjectIdentifier(derEncoded: &fields) == Self.signedData else {
                throw ProvisioningError.notSigned("it is a message of another kind: its contents are not signed")
            }
            return try BER.explicitlyTagged(&fields, tagNumber: 0, tagClass: .contextSpecific) {
                try Self(signedData: $0)
            }
        }
    }

    /// SignedData, section 5.1.
    private init(signedData node: ASN1Node) throws {
        self = try BER.sequence(node, identifier: .sequence) { fields in
            _ = try Int(derEncoded: &fields)
            _ = try ASN1Reading.elements(of: fields.next(), .set)
            let content = try Self.content(fields.next())
            let certificates = try ASN1Reading.optional(&fields, tag: 0).map { try ASN1Reading.elements(of: $0) } ?? []
            _ = ASN1Reading.optional(&fields, tag: 1)
            let signers = try ASN1Reading.elements(of: fields.next(), .set)
            guard !signers.isEmpty else { throw ProvisioningError.notSigned("nobody has signed it") }
            if let other = signers.first(where: { $0.identifier != .sequence }) {
                throw ASN1Error.unexpectedFieldType(other.identifier)
            }
            // The other choices are obsolete forms and attribute certificates; none identifies a signer.
            return Self(
                content: content, certificates: certificates.filter { $0.identifier == .sequence }.map(\.encodedBytes),
                signers: signers.map(\.encodedBytes))
        }
    }

    private init(content: ArraySlice<UInt8>, certificates: [ArraySlice<UInt8>], signers: [ArraySlice<UInt8>]) {
        self.content = content
        self.certificates = certificates
        self.signers = signers
    }

    /// EncapsulatedContentInfo, section 5.2.
    private static func content(_ node: ASN1Node?) throws -> ArraySlice<UInt8> {
        try BER.sequence(try ASN1Reading.required(node), identifier: .sequence) { fields in
            guard try ASN1ObjectIdentifier(derEncoded: &fields) == data else {
                throw ProvisioningError.malformedMessage("signed message", "what is signed in it is no plain data")
            }
            let content = try BER.optionalExplicitlyTagged(&fields, tagNumber: 0, tagClass: .contextSpecific) {
                try ASN1OctetString(berEncoded: $0)
            }
            guard let content else {
                throw ProvisioningError.notSigned("it is a signature alone, without what it signs")
            }
            return content.bytes
        }
    }
}
