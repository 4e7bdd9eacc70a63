/// A whole vault file in memory: its front part, taken apart, and its sealed body.
struct VaultImage: Sendable {
    let head: VaultHead
    let sealedBody: [UInt8]

    init(head: VaultHead, sealedBody: [UInt8]) {
        self.head = head
        self.sealedBody = sealedBody
    }

    /// Takes apart what is about to be written: nothing that its own reader refuses ever gets a name.
    ///
    /// - Throws: `VaultError` `.corrupt` or `.unsupported`.
    init(parsing file: [UInt8], path: String) throws(VaultError) {
        head = try VaultHead(parsing: Array(file.prefix(VaultHead.maximumSize)), path: path)
        sealedBody = Array(file[head.bodyOffset...])
    }
}

extension VaultFile {
    /// The file with its body.
    borrowing func image() throws(VaultError) -> VaultImage {
        VaultImage(head: head, sealedBody: try body())
    }
}
