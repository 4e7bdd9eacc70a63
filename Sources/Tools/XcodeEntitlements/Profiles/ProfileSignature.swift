/// Whether the signature of a profile holds.
///
/// Without the package trait `ProfileSignatures` it is always ``notChecked``: then everything that a profile says is what
/// its file says, not what Apple said.
public enum ProfileSignature: Sendable, Hashable {
    /// Nobody looked.
    case notChecked
    /// Signed by `signer` (its common name) over a digest of the named algorithm, and certified by a trusted root.
    case valid(signer: String, digest: String)
    /// Not signed by anybody trusted, or changed since; why, as the rest of a sentence about the signature.
    case refused(reason: String)

    /// For people, as the end of a line.
    public var title: String {
        switch self {
        case .notChecked: "signature not checked"
        case .valid(let signer, let digest): "signed by \(signer) (\(digest))"
        case .refused(let reason): "signature refused: \(reason)"
        }
    }
}
