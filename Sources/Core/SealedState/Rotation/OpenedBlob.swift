internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

/// Which blob a file was at one moment: the same name may stand for another one later.
struct BlobIdentity: Hashable {
    let device: UInt64
    let inode: UInt64
    let size: Int64
    let modifiedNanoseconds: Int64
    let commitment: Commitment

    init(_ file: FileAttributes, _ commitment: Commitment) {
        device = file.device
        inode = file.inode
        size = file.size
        modifiedNanoseconds = file.modifiedNanoseconds
        self.commitment = commitment
    }
}

/// A file that is open to be read at offsets; nothing about it is authentic.
final class OpenedBlob: Sendable {
    let path: String
    let attributes: FileAttributes
    private let descriptor: Descriptor

    /// - Throws: `StoreError`, with the `FileError` as its cause.
    init(_ path: String, in root: Directory) throws(StoreError) {
        self.path = path
        do throws(FileError) {
            let descriptor = try root.openForReading(path)
            attributes = try descriptor.attributes()
            self.descriptor = descriptor
        } catch {
            throw StoreError(error, "reseal", path)
        }
    }

    /// As its header claims; nil for what has none.
    var identity: BlobIdentity? {
        guard let claimed = try? UnverifiedHeader(parsing: head).claimed else { return nil }
        return BlobIdentity(attributes, claimed.commitment)
    }

    /// Where its header is; empty where there are not that many bytes.
    var head: [UInt8] {
        var header = [UInt8](repeating: 0, count: BlobLayout.headerSize)
        let isRead = header.withUnsafeMutableBytes { (try? read(at: 0, into: $0)) != nil }
        return isRead ? header : []
    }

    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) {
        let count = try descriptor.pread(into: buffer, at: Int64(offset))
        // Cut while it was open, by somebody who does not replace files whole.
        if count < buffer.count { throw FileError(.io, operation: "read", path: descriptor.path) }
    }
}
