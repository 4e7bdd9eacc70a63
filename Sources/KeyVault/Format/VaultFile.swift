internal import Glibc
internal import Sealing
internal import SharedFiles

/// A vault file, open: its front part read, its body read on demand.
///
/// Both are of one write, whatever happens to the name meanwhile: a vault file is replaced, never changed in place.
struct VaultFile: ~Copyable {
    /// The largest file that is opened.
    static let maximumSize = VaultHead.maximumSize + BlobLayout.blobSize(plaintextSize: VaultBody.maximumSize)

    let head: VaultHead
    let path: String
    private let file: Descriptor
    private let size: Int

    /// Opens the vault in its directory; nil when there is none.
    ///
    /// - Throws: `VaultError` `.unsafeFile` where others may write or read it, `.corrupt`, `.unsupported`, `.denied`, or
    ///   `.file`.
    static func open(in directory: Directory) throws(VaultError) -> VaultFile? {
        var file: Descriptor?
        do throws(FileError) {
            let opened = try directory.openForReading(VaultPlace.leaf)
            try requireMode(opened, of: directory)
            file = consume opened
        } catch {
            if error.code == .notFound { return nil }
            throw VaultError(error, "open the vault")
        }
        guard let file else { return nil }
        return try read(file, path: directory.display(VaultPlace.leaf))
    }

    /// Opens a file that a person named.
    ///
    /// - Throws: As above; `.file` when there is none.
    static func open(path: String) throws(VaultError) -> VaultFile {
        let file = try VaultError.onFiles("open the file") { () throws(FileError) in
            try Descriptor.openForReading(path: path)
        }
        return try read(file, path: path)
    }

    private static func read(_ file: consuming Descriptor, path: String) throws(VaultError) -> VaultFile {
        let size = try size(of: file, path)
        let front = try bytes(of: file, from: 0, count: min(size, VaultHead.maximumSize), path)
        let head = try VaultHead(parsing: front, path: path)
        // Before the body is read: what was hung on a vault costs nobody any memory.
        guard size == head.bodyOffset + head.bodySize else {
            throw .corrupt(path, "It does not have the size that its header says.")
        }
        return VaultFile(head: head, path: path, file: file, size: size)
    }

    private init(head: VaultHead, path: String, file: consuming Descriptor, size: Int) {
        self.head = head
        self.path = path
        self.file = file
        self.size = size
    }

    private static func size(of file: borrowing Descriptor, _ path: String) throws(VaultError) -> Int {
        do throws(FileError) {
            let facts = try file.attributes()
            guard facts.kind == .regular else {
                throw FileError(.notRegularFile, operation: "open the vault", path: path)
            }
            guard facts.size <= maximumSize else { throw FileError(.tooLarge, operation: "read", path: path) }
            return Int(facts.size)
        } catch {
            throw error.code == .tooLarge
                ? VaultError.corrupt(path, "It is larger than any vault.") : VaultError(error, "open the vault")
        }
    }

    /// The sealed body.
    borrowing func body() throws(VaultError) -> [UInt8] {
        try Self.bytes(of: file, from: head.bodyOffset, count: size - head.bodyOffset, path)
    }

    private static func bytes(
        of file: borrowing Descriptor, from offset: Int, count: Int, _ path: String
    ) throws(VaultError) -> [UInt8] {
        var failure: FileError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let space = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count)
            do throws(FileError) { filled = try file.pread(into: space, at: Int64(offset)) } catch {
                failure = error
                filled = 0
            }
        }
        if let failure { throw VaultError(failure, "open the vault") }
        return bytes
    }

    /// Read rights of others are refused as well: a copy of the slots is all that guessing needs.
    private static func requireMode(_ file: borrowing Descriptor, of directory: Directory) throws(FileError) {
        let facts = try file.attributes()
        let isShared = try directory.sharing == .unixGroup(facts.gid)
        guard facts.mode & (isShared ? 0o007 : 0o027) != 0 else { return }
        let path = directory.display(VaultPlace.leaf)
        throw FileError(
            .unsafeMode, operation: "open the vault", path: path,
            advice: "Take the others' rights away: chmod \(isShared ? 660 : 600) \(path.shellQuoted)")
    }
}
