#if ProfileSignatures
internal import SwiftASN1
internal import X509

/// A SignerInfo of a message: identity, digest and signature (RFC 5652, section 5.3).
struct MessageSigner {
    private enum Identity {
        case issuer(X509.DistinguishedName, serialNumber: ArraySlice<UInt8>)
        case key(ArraySlice<UInt8>)
    }

    private let identity: Identity
    private let digest: ASN1ObjectIdentifier
    /// The signed attributes as encoded, or `nil` if the signature covers the contents alone.
    private let attributes: ArraySlice<UInt8>?
    private let algorithm: ASN1ObjectIdentifier
    private let signature: ArraySlice<UInt8>

    init(parsing bytes: ArraySlice<UInt8>) throws(SignatureFault) {
        do {
            self = try BER.sequence(try BER.parse(bytes), identifier: .sequence) { fields in try Self(&fields) }
        } catch {
            throw SignatureFault("the signer's part breaks its syntax")
        }
    }

    private init(_ fields: inout ASN1NodeCollection.Iterator) throws {
        _ = try Int(derEncoded: &fields)
        identity = try Self.identity(try ASN1Reading.required(fields.next()))
        digest = try Self.algorithm(fields.next())
        attributes = ASN1Reading.optional(&fields, tag: 0)?.encodedBytes
        algorithm = try Self.algorithm(fields.next())
        signature = try ASN1OctetString(berEncoded: &fields).bytes
    }

    private static func identity(_ node: ASN1Node) throws -> Identity {
        if node.identifier == ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific) {
            return .key(try ASN1OctetString(berEncoded: node, withIdentifier: node.identifier).bytes)
        }
        return try BER.sequence(node, identifier: .sequence) { fields in
            let issuer = try X509.DistinguishedName(derEncoded: try ASN1Reading.required(fields.next()))
            return .issuer(issuer, serialNumber: try ASN1Reading.bytes(of: fields.next(), .integer).drop { $0 == 0 })
        }
    }

    private static func algorithm(_ node: ASN1Node?) throws -> ASN1ObjectIdentifier {
        try BER.sequence(try ASN1Reading.required(node), identifier: .sequence) { fields in
            let type = try ASN1ObjectIdentifier(derEncoded: &fields)
            _ = fields.next()
            return type
        }
    }
}

extension MessageSigner {
    /// Returns the certificate that the signer names.
    func certificate(among certificates: [ChainCertificate]) throws(SignatureFault) -> ChainCertificate {
        let named = certificates.first { candidate in
            switch identity {
            case .issuer(let issuer, let serialNumber):
                candidate.certificate.issuer == issuer && candidate.facts.serialNumber.elementsEqual(serialNumber)
            case .key(let identifier):
                (try? candidate.certificate.extensions.subjectKeyIdentifier)?.keyIdentifier == identifier
            }
        }
        guard let named else { throw SignatureFault("its signer's certificate is missing") }
        return named
    }

    /// Verifies the signature over the contents with the signer's key and returns its digest.
    func verify(
        _ content: ArraySlice<UInt8>, with signer: ChainCertificate
    ) throws(SignatureFault) -> MessageDigest {
        let digest = try MessageDigest(self.digest)
        let algorithm = try digest.algorithm(self.algorithm)
        var signed = content
        if let attributes {
            // The attributes are signed as a SET, regardless of their tag in the message (section 5.4).
            signed = [0x31] + attributes.dropFirst()
            let known = try SignedAttributes(parsing: signed)
            guard known.contentDigest.elementsEqual(digest.digest(of: content)) else {
                throw SignatureFault("the contents were changed after signing")
            }
        }
        guard signer.certificate.publicKey.isValidSignature(signature, for: signed, signatureAlgorithm: algorithm)
        else {
            throw SignatureFault("\(signer.facts.title) did not make it, or the message was changed")
        }
        return digest
    }
}
#endif
