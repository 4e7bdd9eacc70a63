internal import KeyVault
internal import Sealing

/// A blob that is authentic, in its place and in order; what it says was not looked at yet.
struct AcceptedBlob: ~Copyable {
    /// The header to believe, and the plaintext, which is wiped with this value.
    let opened: BlobOpener.Opened
    /// The file's bytes, as sealed.
    let sealed: [UInt8]
    /// Where the clock stood when it was accepted first; unknown for a blob that was not judged by the watermarks.
    var anchor = ClockAnchor.unknown

    /// The writer whose signature was verified; nil for a name that no roster governs.
    var writer: WriterID?

    var header: BlobHeader { opened.header.header }
}
