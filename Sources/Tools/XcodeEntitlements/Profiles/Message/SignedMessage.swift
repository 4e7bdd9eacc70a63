internal import SwiftASN1

/// A message of the Cryptographic Message Syntax (RFC 5652) with its contents. Parsed, not verified.
///
/// Apple writes DER. Streaming signers write BER, with indefinite lengths and contents in pieces. Both are accepted.
struct SignedMessage: Sendable, Hashable {
    /// The signed content.
    let content: ArraySlice<UInt8>
    /// The included certificates, each as DER.
    let certificates: [ArraySlice<UInt8>]
    /// The signer infos, each as encoded.
    let signers: [ArraySlice<UInt8>]

    private static let data: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 1]
    private static let signedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 2]

    init(parsing bytes: [UInt8]) throws(ProvisioningError) {
        guard bytes.first == 0x30 else { throw .notSigned(Self.unlike(bytes)) }
        try MessageSize.check(bytes[...], of: "signed message")
        self = try ASN1Reading.read("signed message") { try Self(content: try BER.parse(bytes)) }
    }

    /// Returns the description of a file that is not a message.
    private static func unlike(_ bytes: [UInt8]) -> String {
        if bytes.isEmpty { return "it is empty" }
        if bytes.starts(with: "<?xml".utf8) || bytes.starts(with: "bplist".utf8) {
            return "it is an unsigned property list"
        }
        return "it does not begin with a signed message"
    }

    /// Parses ContentInfo, section 3.
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

    /// Parses SignedData, section 5.1.
    private init(signedData node: ASN1Node) throws {
        self = try BER.sequence(node, identifier: .sequence) { fields in
            _ = try Int(derEncoded: &fields)
            _ = try ASN1Reading.elements(of: fields.next(), .set)
            let content = try Self.content(fields.next())
            let certificates = try ASN1Reading.optional(&fields, tag: 0).map { try ASN1Reading.elements(of: $0) } ?? []
            _ = ASN1Reading.optional(&fields, tag: 1)
            let signers = try ASN1Reading.elements(of: fields.next(), .set)
            guard !signers.isEmpty else { throw ProvisioningError.notSigned("it has no signer") }
            if let other = signers.first(where: { $0.identifier != .sequence }) {
                throw ASN1Error.unexpectedFieldType(other.identifier)
            }
            // The other choices are obsolete forms and attribute certificates, which do not identify a signer.
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

    /// Parses EncapsulatedContentInfo, section 5.2.
    private static func content(_ node: ASN1Node?) throws -> ArraySlice<UInt8> {
        try BER.sequence(try ASN1Reading.required(node), identifier: .sequence) { fields in
            guard try ASN1ObjectIdentifier(derEncoded: &fields) == data else {
                throw ProvisioningError.malformedMessage("signed message", "its signed contents are not plain data")
            }
            let content = try BER.optionalExplicitlyTagged(&fields, tagNumber: 0, tagClass: .contextSpecific) {
                try ASN1OctetString(berEncoded: $0)
            }
            guard let content else {
                throw ProvisioningError.notSigned("it is a signature without the signed contents")
            }
            return content.bytes
        }
    }
}

/// The number of elements of a DER or BER encoding, counted from its headers alone.
///
/// The ASN.1 parser creates a node of some hundred bytes for each element before the caller can check them: 4 MiB of
/// empty elements would become 200 MiB. The count allocates nothing. The parser reads the same headers in the same
/// order up to the first fault, so it never creates more nodes than were counted.
enum MessageSize {
    /// The limit on elements. A profile in pieces of 1,000 bytes, as streaming signers write it, stays below it up to
    /// the largest size.
    static let mostElements = 8192

    /// Throws for an encoding with too many elements. Truncated encodings and unknown headers are left to the parser.
    static func check(_ bytes: ArraySlice<UInt8>, of part: String) throws(ProvisioningError) {
        var headers = HeaderScanner(rest: bytes)
        var count = 0
        while headers.skip() {
            count += 1
            guard count <= mostElements else {
                throw .tooLarge(part, "it has more than \(mostElements) elements")
            }
        }
    }
}

/// A scanner that steps from header to header, into constructed elements and over primitive ones.
private struct HeaderScanner {
    var rest: ArraySlice<UInt8>

    /// Advances to the next header. Returns `false` at the end, or if no header is recognised.
    mutating func skip() -> Bool {
        guard let identifier = rest.popFirst() else { return false }
        if identifier & 0x1F == 0x1F { skipNumber() }
        guard let first = rest.popFirst() else { return false }
        let isConstructed = identifier & 0x20 != 0
        // An indefinite length: the contents extend to an empty element of type 0.
        if first == 0x80 { return isConstructed }
        guard let length = length(first) else { return false }
        if isConstructed { return true }
        guard length <= rest.count else { return false }
        rest = rest.dropFirst(length)
        return true
    }

    /// Skips a tag number in the long form, seven bits per byte.
    private mutating func skipNumber() {
        while let byte = rest.popFirst(), byte & 0x80 != 0 {}
    }

    private mutating func length(_ first: UInt8) -> Int? {
        guard first & 0x80 != 0 else { return Int(first) }
        let count = Int(first & 0x7F)
        guard count <= rest.count else { return nil }
        let digits = rest.prefix(count).drop { $0 == 0 }
        rest = rest.dropFirst(count)
        // Seven bytes exceed the size of any file, and eight could overflow.
        return digits.count < 8 ? digits.reduce(0) { $0 << 8 | Int($1) } : nil
    }
}

/// Helpers for parsed ASN.1 with errors of this module.
enum ASN1Reading {
    /// Runs steps of the ASN.1 parser. Parser errors become the fault of `part`; errors of this module are rethrown.
    static func read<Value>(
        _ part: String, as fault: (String, String) -> ProvisioningError = ProvisioningError.malformedMessage,
        _ body: () throws -> Value
    ) throws(ProvisioningError) -> Value {
        do {
            return try body()
        } catch let error as ProvisioningError {
            throw error
        } catch {
            throw fault(part, reason(error))
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch (error as? ASN1Error)?.code {
        case .truncatedASN1Field: "it is truncated"
        case .unexpectedFieldType: "its syntax requires another field"
        case .unsupportedFieldLength: "a length in it is not allowed"
        case .invalidASN1Object: "a part of it breaks its syntax, or its end is followed by other bytes"
        default: "it breaks its syntax"
        }
    }

    static func required(_ node: ASN1Node?) throws -> ASN1Node {
        guard let node else { throw ASN1Error.truncatedASN1Field() }
        return node
    }

    /// Returns the elements of a SET OF or SEQUENCE OF in the order of the file, because signers do not sort them.
    static func elements(of node: ASN1Node?, _ identifier: ASN1Identifier? = nil) throws -> [ASN1Node] {
        let node = try required(node)
        if let identifier, node.identifier != identifier { throw ASN1Error.unexpectedFieldType(node.identifier) }
        guard case .constructed(let elements) = node.content else {
            throw ASN1Error.unexpectedFieldType(node.identifier)
        }
        return Array(elements)
    }

    /// Returns the next field if it has that context-specific tag.
    static func optional(_ fields: inout ASN1NodeCollection.Iterator, tag: UInt) -> ASN1Node? {
        DER.optionalImplicitlyTagged(&fields, tagNumber: tag, tagClass: .contextSpecific) { $0 }
    }

    /// Returns the bytes of a primitive field.
    static func bytes(of node: ASN1Node?, _ identifier: ASN1Identifier) throws -> ArraySlice<UInt8> {
        let node = try required(node)
        guard node.identifier == identifier, case .primitive(let bytes) = node.content else {
            throw ASN1Error.unexpectedFieldType(node.identifier)
        }
        return bytes
    }
}
