internal import SwiftASN1

/// Small steps through parsed ASN.1, with errors of ours.
enum ASN1Reading {
    /// Runs steps of the ASN.1 parser; what it throws becomes the fault of `part`, what we throw stays.
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
        case .truncatedASN1Field: "it ends too early"
        case .unexpectedFieldType: "it has another field where its syntax wants one"
        case .unsupportedFieldLength: "a length in it is not allowed"
        case .invalidASN1Object: "a part of it breaks its syntax, or something follows its end"
        default: "it breaks its syntax"
        }
    }

    static func required(_ node: ASN1Node?) throws -> ASN1Node {
        guard let node else { throw ASN1Error.truncatedASN1Field() }
        return node
    }

    /// The elements of a SET OF or SEQUENCE OF, in the order of the file: signers do not sort them.
    static func elements(of node: ASN1Node?, _ identifier: ASN1Identifier? = nil) throws -> [ASN1Node] {
        let node = try required(node)
        if let identifier, node.identifier != identifier { throw ASN1Error.unexpectedFieldType(node.identifier) }
        guard case .constructed(let elements) = node.content else {
            throw ASN1Error.unexpectedFieldType(node.identifier)
        }
        return Array(elements)
    }

    /// The next field, where it has a context-specific tag of that number.
    static func optional(_ fields: inout ASN1NodeCollection.Iterator, tag: UInt) -> ASN1Node? {
        DER.optionalImplicitlyTagged(&fields, tagNumber: tag, tagClass: .contextSpecific) { $0 }
    }

    /// The bytes of a field that has no others in it.
    static func bytes(of node: ASN1Node?, _ identifier: ASN1Identifier) throws -> ArraySlice<UInt8> {
        let node = try required(node)
        guard node.identifier == identifier, case .primitive(let bytes) = node.content else {
            throw ASN1Error.unexpectedFieldType(node.identifier)
        }
        return bytes
    }
}
