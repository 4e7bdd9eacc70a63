#if ProfileSignatures
internal import Crypto
internal import SwiftASN1
internal import X509

/// The digest algorithms that profiles are signed with.
enum MessageDigest: CaseIterable {
    /// Apple's digest for years. It is weak: an author of two files can give them the same digest.
    case sha1
    case sha256
    case sha384
    case sha512

    init(_ type: ASN1ObjectIdentifier) throws(SignatureFault) {
        guard let known = Self.allCases.first(where: { $0.type == type }) else {
            throw SignatureFault("its digest has an unknown algorithm")
        }
        self = known
    }

    /// The name for display.
    var title: String {
        switch self {
        case .sha1: "SHA-1"
        case .sha256: "SHA-256"
        case .sha384: "SHA-384"
        case .sha512: "SHA-512"
        }
    }

    private var type: ASN1ObjectIdentifier {
        switch self {
        case .sha1: [1, 3, 14, 3, 2, 26]
        case .sha256: [2, 16, 840, 1, 101, 3, 4, 2, 1]
        case .sha384: [2, 16, 840, 1, 101, 3, 4, 2, 2]
        case .sha512: [2, 16, 840, 1, 101, 3, 4, 2, 3]
        }
    }

    func digest(of bytes: ArraySlice<UInt8>) -> [UInt8] {
        switch self {
        case .sha1: Array(Insecure.SHA1.hash(data: bytes))
        case .sha256: Array(SHA256.hash(data: bytes))
        case .sha384: Array(SHA384.hash(data: bytes))
        case .sha512: Array(SHA512.hash(data: bytes))
        }
    }

    /// Returns the signature's algorithm. If it names a digest as well, it must be this one (RFC 5754, section 3).
    func algorithm(_ type: ASN1ObjectIdentifier) throws(SignatureFault) -> Certificate.SignatureAlgorithm {
        let rsa = ASN1ObjectIdentifier.AlgorithmIdentifier.rsaEncryption
        switch (self, type) {
        case (.sha1, rsa), (.sha1, [1, 2, 840, 113549, 1, 1, 5]): return .sha1WithRSAEncryption
        case (.sha256, rsa), (.sha256, [1, 2, 840, 113549, 1, 1, 11]): return .sha256WithRSAEncryption
        case (.sha384, rsa), (.sha384, [1, 2, 840, 113549, 1, 1, 12]): return .sha384WithRSAEncryption
        case (.sha512, rsa), (.sha512, [1, 2, 840, 113549, 1, 1, 13]): return .sha512WithRSAEncryption
        case (.sha256, [1, 2, 840, 10045, 4, 3, 2]): return .ecdsaWithSHA256
        case (.sha384, [1, 2, 840, 10045, 4, 3, 3]): return .ecdsaWithSHA384
        case (.sha512, [1, 2, 840, 10045, 4, 3, 4]): return .ecdsaWithSHA512
        default: throw SignatureFault("its algorithm is unknown or does not match its digest")
        }
    }
}
#endif
