#if ProfileSignatures
internal import Crypto
internal import SwiftASN1
internal import X509

/// A certificate as a link of a chain: its facts and its key.
struct ChainCertificate {
    let facts: ProfileCertificate
    let certificate: Certificate

    /// Returns the certificates in a message.
    static func all(of message: SignedMessage) throws(SignatureFault) -> [ChainCertificate] {
        var certificates: [ChainCertificate] = []
        for der in message.certificates {
            // An unsupported certificate cannot be a link and is skipped.
            guard let facts = try? CertificateReader.certificate(der, at: ""),
                let certificate = try? Certificate(derEncoded: Array(der))
            else { continue }
            certificates.append(ChainCertificate(facts: facts, certificate: certificate))
        }
        guard !certificates.isEmpty else { throw SignatureFault("it contains no certificates") }
        return certificates
    }

    /// The SHA-256 of the certificate's bytes.
    var fingerprint: [UInt8] { Array(SHA256.hash(data: facts.der)) }

    /// Returns whether it certifies another certificate: by name, by its own permission, and by its key.
    func certifies(_ other: ChainCertificate) -> Bool {
        certificate.subject == other.certificate.issuer && isAuthority
            && certificate.publicKey.isValidSignature(other.certificate.signature, for: other.certificate)
    }

    private var isAuthority: Bool {
        guard case .isCertificateAuthority? = try? certificate.extensions.basicConstraints else { return false }
        guard let usage = try? certificate.extensions.keyUsage else { return true }
        return usage.keyCertSign
    }

    /// True if it may sign messages.
    var maySign: Bool {
        guard let usage = try? certificate.extensions.keyUsage else { return true }
        return usage.digitalSignature
    }

    func has(_ mark: ASN1ObjectIdentifier) -> Bool { certificate.extensions[oid: mark] != nil }

    /// True if a critical extension is unknown here, which forbids the use of the certificate (RFC 5280, section 4.2).
    var hasUnknownRule: Bool {
        certificate.extensions.contains { $0.critical && !Self.isKnown($0.oid) }
    }

    /// Returns whether an extension is known: basic constraints and key usage, which are checked; key identifiers,
    /// policies and extended usage, which restrict nothing here; Apple's marks.
    private static func isKnown(_ type: ASN1ObjectIdentifier) -> Bool {
        let parts = type.oidComponents
        if parts.starts(with: [1, 2, 840, 113635, 100]) { return true }
        return parts.starts(with: [2, 5, 29]) && parts.count == 4 && [14, 15, 19, 32, 35, 37].contains(parts[3])
    }
}
#endif
