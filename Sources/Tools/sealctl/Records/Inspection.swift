internal import KeyVault
internal import Sealing

/// What `inspect` found out about one blob.
struct Inspection {
    /// Where it came from.
    let place: String
    /// Bytes of the file; nil for a pipe.
    let size: Int64?
    /// Believed only where the verdict is `verified`.
    let header: BlobHeader
    /// The group that it was compared with, and whether it was sealed for that one.
    var group: (identifier: String, fits: Bool)?
    /// The name of the record or stream, where it is known.
    var record: String?
    /// Whether it is a stream of the group without a name.
    var isNameless = false
    var verdict = InspectionVerdict.unverified("no group was named")
    /// The class of the key that it was sealed under, where the vault knows that key.
    var protection: ProtectionClass?
    /// `current`, `expired` or `future` as readers judge it, where it was verified.
    var judgedFreshness: String?
    /// The order that was accepted before, as `epoch.sequence`, and how this blob stands to it.
    var watermark: (accepted: String, standing: String)?
    /// The writer of a record that is signed and that readers accept.
    var writer: Signer?
    /// The contents of a verified JSON record.
    var payload: JSONPayload?
}

/// Whether the blob can be believed.
enum InspectionVerdict {
    /// Header and contents are authentic and in their place.
    case verified
    /// Nothing was tried, for that reason.
    case unverified(String)
    /// Refused, for that reason.
    case refused(Failure)
}

/// JSON on one line, and as it is shown.
struct JSONPayload {
    let compact: String
    let indented: String
}
