internal import CryptoPrimitives
internal import Glibc
internal import Sealing
internal import SharedFiles

/// An open compartment file: its head is read, its parts are read on demand.
///
/// Head and parts come from one write even if the name is replaced meanwhile: a file is never changed in place.
final class CompartmentFile: Sendable {
    /// The largest sealed part.
    static let maximumPartSize = BlobLayout.blobSize(plaintextSize: 72 << 20)
    /// The largest file: its head, and as many parts as its table has entries for.
    static let maximumSize = CompartmentHead.maximumSize + CompartmentHead.maximumParts * maximumPartSize
    /// The size of the first read: the head and the small parts of an ordinary vault.
    private static let firstRead = 16 * 1024

    let head: CompartmentHead
    let path: String
    /// The excess rights that the file gives to others, if its opener tolerates them.
    let modeFault: FileError?
    /// `nil` for bytes in memory: `front` is the whole file then.
    private let file: Descriptor?
    private let front: [UInt8]

    /// Opens a compartment of a vault; returns `nil` if the file does not exist.
    ///
    /// - Parameter passingMode: Whether a file that others may write or read is opened, with its `modeFault`.
    /// - Throws: `VaultError` `.unsafeFile` if others may write or read it, `.corrupt`, `.unsupported`, `.denied`,
    ///   `.isAnExport` for a backup, or `.file`.
    static func open(
        _ role: CompartmentRole, in directory: Directory, passingMode: Bool = false
    ) throws(VaultError) -> CompartmentFile? {
        let path = directory.display(role.leaf)
        guard let found = try openIfThere(role, in: directory, path, passingMode: passingMode) else { return nil }
        guard found.head.role == role else {
            guard found.head.role != .backup else {
                throw VaultError(.isAnExport, "open the vault", path, "It is a backup, not a vault in use.")
            }
            throw .corrupt(path, "It is the other compartment's file.")
        }
        return found
    }

    private static func openIfThere(
        _ role: CompartmentRole, in directory: Directory, _ path: String, passingMode: Bool
    ) throws(VaultError) -> CompartmentFile? {
        let isThere = try VaultError.onFiles("open the vault") { () throws(FileError) in
            try directory.exists(role.leaf)
        }
        guard isThere else { return nil }
        var fault: FileError?
        var size: Int64 = 0
        let file = try VaultError.onFiles("open the vault") { () throws(FileError) in
            let file = try directory.openForReading(role.leaf)
            let facts = try file.attributes()
            size = facts.size
            fault = try modeFault(facts, in: directory, role)
            if let fault, !passingMode { throw fault }
            return file
        }
        return try CompartmentFile(file, size: size, path: path, modeFault: fault)
    }

    /// Opens a file by a path that the user gave.
    ///
    /// - Throws: As above; `.file` if the file does not exist.
    static func open(path: String) throws(VaultError) -> CompartmentFile {
        let file = try VaultError.onFiles("open the file") { () throws(FileError) in
            try Descriptor.openForReading(path: path)
        }
        let facts = try VaultError.onFiles("open the vault") { () throws(FileError) in try file.attributes() }
        guard facts.kind == .regular else {
            throw VaultError(FileError(.notRegularFile, operation: "open the vault", path: path), "open the vault")
        }
        return try CompartmentFile(file, size: facts.size, path: path)
    }

    /// - Parameter file: A regular file.
    private init(
        _ file: consuming Descriptor, size: Int64, path: String, modeFault: FileError? = nil
    ) throws(VaultError) {
        let size = Int(clamping: size)
        var front = try Self.bytes(of: file, from: 0, count: min(size, Self.firstRead), path)
        if let needed = Self.headSize(front), needed > front.count, size > front.count {
            front = try Self.bytes(of: file, from: 0, count: min(size, needed), path)
        }
        head = try CompartmentHead(parsing: front, path: path)
        guard size == head.fileSize else { throw .corrupt(path, "Its size is not the one in its header.") }
        self.path = path
        self.modeFault = modeFault
        self.file = consume file
        self.front = front
    }

    /// Reads the bytes of a file that is not written yet as its reader will read them.
    ///
    /// - Throws: `VaultError` `.corrupt`, `.unsupported`.
    init(_ bytes: [UInt8], path: String) throws(VaultError) {
        head = try CompartmentHead(parsing: bytes, path: path)
        guard bytes.count == head.fileSize else { throw .corrupt(path, "Its size is not the one in its header.") }
        self.path = path
        modeFault = nil
        file = nil
        front = bytes
    }

    /// Returns the size of the head that the first bytes announce, at most `maximumSize`; `nil` if they are no head.
    private static func headSize(_ front: [UInt8]) -> Int? {
        guard front.count >= CompartmentHead.fixedSize else { return nil }
        let (area, register) = front.withRawBytes { front in
            (Int(front.number(at: 36, as: UInt32.self)), Int(front.number(at: 40, as: UInt32.self)))
        }
        let size =
            CompartmentHead.fixedSize + area + register + Int(front[7]) * PartEntry.size + CompartmentHead.checksumSize
            + CompartmentHead.codeSize
        return min(size, CompartmentHead.maximumSize)
    }

    /// Returns a sealed part's bytes; `nil` if the file has no such part.
    func sealedPart(_ number: PartNumber) throws(VaultError) -> [UInt8]? {
        guard let entry = head.entry(number) else { return nil }
        let offset = head.offset(of: number)
        if offset + entry.sealedSize <= front.count { return Array(front[offset..<offset + entry.sealedSize]) }
        let bytes = try bytes(from: offset, count: entry.sealedSize)
        guard bytes.count == entry.sealedSize else { throw .corrupt(path, "It is truncated.") }
        return bytes
    }

    private func bytes(from offset: Int, count: Int) throws(VaultError) -> [UInt8] {
        switch file {
        case .some(let file): try Self.bytes(of: file, from: offset, count: count, path)
        case .none: throw .corrupt(path, "It is truncated.")
        }
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

    /// Returns the fault of a mode that lets others write or read the file: a copy of the slots is enough to guess
    /// passphrases.
    ///
    /// The advice has a command only if no other user can write the directory. Otherwise the path may lead to another
    /// file when the command runs.
    private static func modeFault(
        _ facts: FileAttributes, in directory: Directory, _ role: CompartmentRole
    ) throws(FileError) -> FileError? {
        let sharing = try directory.sharing
        let hasGroup = sharing == .unixGroup(facts.gid)
        guard facts.mode & (hasGroup ? 0o007 : 0o027) != 0 else { return nil }
        let path = directory.display(role.leaf)
        let mode = String(directory.fileMode, radix: 8)
        let advice =
            sharing == .ownerOnly
            ? "Remove the rights of other users: chmod \(mode) \(path.shellQuoted)"
            : "As its owner, give it \(hasGroup ? "" : "the directory's unix group and ")the mode \(mode). Check first "
                + "that no other user has replaced the file."
        return FileError(.unsafeMode, operation: "open the vault", path: path, advice: advice)
    }
}

/// Seals and opens the parts of one compartment in one period.
struct PartSealing: Sendable {
    let group: String
    let role: CompartmentRole
    let period: UInt32
    let key: SealingKey
    let path: String

    /// - Throws: `VaultError` `.corrupt` for period 0.
    init(_ place: VaultPlace, _ role: CompartmentRole, period: UInt32, root: RootKey) throws(VaultError) {
        group = place.accessGroup.identifier
        self.role = role
        self.period = period
        path = place.path(of: role)
        guard let key = root.partKey(role, period: period) else { throw .corrupt(path, "It has no period.") }
        self.key = key
    }

    static func context(_ group: String, _ role: CompartmentRole, period: UInt32, _ number: PartNumber) -> BlobContext {
        BlobContext(group: group, kind: .vault, name: "\(role.rawValue).\(period).\(number.rawValue)")
    }

    /// Seals a part's contents.
    func seal(
        _ contents: [UInt8], as number: PartNumber, isCritical: Bool = true, generation: UInt64, at now: UInt64
    ) -> (entry: PartEntry, bytes: [UInt8]) {
        let description = BlobDescription(
            vault: Self.context(group, role, period: period, number), sequence: generation, sealedAt: now)
        let sealed = contents.withRawBytes { BlobSealer.seal($0, as: description, key: key) }
        let commitment = sealed.withRawBytes {
            Bytes32(UnsafeRawBufferPointer(rebasing: $0[BlobLayout.commitmentOffset...]))
        }
        return (
            PartEntry(
                number: number, isCritical: isCritical, sealedSize: sealed.count, commitment: commitment), sealed
        )
    }

    /// Opens a sealed part.
    ///
    /// - Throws: `VaultError` `.corrupt` unless it is the part that the table lists; `.wrongGroup`.
    func open(_ sealed: [UInt8], _ entry: PartEntry) throws(VaultError) -> (bytes: [UInt8], header: VerifiedHeader) {
        do throws(SealingError) {
            let opened = try sealed.withRawBytes { sealed throws(SealingError) in
                try BlobOpener.open(sealed, context: nil, keys: key, limit: CompartmentFile.maximumPartSize)
            }
            let header = opened.header.header
            let context = Self.context(group, role, period: period, entry.number)
            guard header.groupTag == context.groupTag else {
                throw SealingError(.wrongGroup, "open", "It was made for another access group.")
            }
            guard header.nameTag == context.nameTag, header.commitment.bytes == entry.commitment else {
                throw SealingError(.wrongName, "open", "Part \(entry.number.rawValue) is not the one in its table.")
            }
            return (opened.plaintext.withUnsafeBytes { Array($0) }, opened.header)
        } catch {
            guard error.code == .wrongGroup else { throw .corrupt(path, error.detail) }
            throw VaultError(.wrongGroup, "open the vault", path, error.detail)
        }
    }
}
