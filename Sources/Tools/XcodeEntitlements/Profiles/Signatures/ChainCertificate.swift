#if ProfileSignatures
internal import Crypto
internal import SwiftASN1
internal import X509

/// A certificate as a link of a chain: what it says, and its key.
struct ChainCertificate {
    let facts: ProfileCertificate
    let certificate: Certificate

    /// Those that came with a message.
    static func all(of message: SignedMessage) throws(SignatureFault) -> [ChainCertificate] {
        var certificates: [ChainCertificate] = []
        for der in message.certificates {
            // One that is not understood can't be a link; it need not be one.
            guard let facts = try? CertificateReader.certificate(der, at: ""),
                let certificate = try? Certificate(derEncoded: Array(der))
            else { continue }
            certificates.append(ChainCertificate(facts: facts, certificate: certificate))
        }
        guard !certificates.isEmpty else { throw SignatureFault("it comes without certificates") }
        return certificates
    }

    /// The SHA-256 of the certificate's bytes.
    var fingerprint: [UInt8] { Array(SHA256.hash(data: facts.der)) }

    /// Whether it certifies another one: by name, by its own permission, and by its key.
    func certifies(_ other: ChainCertificate) -> Bool {
        certificate.subject == other.certificate.issuer && isAuthority
            && certificate.publicKey.isValidSignature(other.certificate.signature, for: other.certificate)
    }

    private var isAuthority: Bool {
        guard case .isCertificateAuthority? = try? certificate.extensions.basicConstraints else { return false }
        guard let usage = try? certificate.extensions.keyUsage else { return true }
        return usage.keyCertSign
    }

    /// Whether it may sign messages.
    var maySign: Bool {
        guard let usage = try? certificate.extensions.keyUsage else { return true }
        return usage.digitalSignature
    }

    func has(_ mark: ASN1ObjectIdentifier) -> Bool { certificate.extensions[oid: mark] != nil }

    /// A critical extension that nobody here knows forbids the use of a certificate (RFC 5280, section 4.2).
    var hasUnknownRule: Bool {
        certificate.extensions.contains { $0.critical && !Self.isKnown($0.oid) }
    }

    /// Basic constraints and key usage, which are looked at; key identifiers, policies and extended usage, which forbid
    /// nothing here; Apple's marks.
    private static func isKnown(_ type: ASN1ObjectIdentifier) -> Bool {
        let parts = type.oidComponents
        if parts.starts(with: [1, 2, 840, 113635, 100]) { return true }
        return parts.starts(with: [2, 5, 29]) && parts.count == 4 && [14, 15, 19, 32, 35, 37].contains(parts[3])
    }
}
#endif
