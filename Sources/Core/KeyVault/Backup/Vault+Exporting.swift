internal import CryptoPrimitives
internal import SharedFiles
internal import SystemPackage

extension Vault {
    /// Writes a backup: one file that restores the vault on this machine or another.
    ///
    /// The file has its own keys, and nothing in it opens the original vault. Values and keys pass one at a time
    /// through secret memory. Only the finished, sealed file reaches the disk, with mode 0600, under a free name. The
    /// access log records the intention and then the export.
    /// - Parameters:
    ///   - path: The new file. Its directory must exist.
    ///   - slots: The slots that open it, at least one: passphrases and recipients, none of them unattended.
    ///   - contentsKind: The contents to include.
    /// - Returns: The included contents, and the omitted items marked `…ThisDeviceOnly`.
    /// - Throws: `VaultError` `.alreadyExists` for an existing name; `.invalidArgument` for other slots; `.locked` if
    ///   requested contents are locked; `.corrupt` for a value that does not match its entry; `.outOfMemory`,
    ///   `.tooCostly`; `.lockTimeout` if other programs kept changing items, and one of them held the vault's lock;
    ///   `.file`, `.denied`; those of every look at the vault. Then no file remains. `.durabilityUnknown` if the backup
    ///   exists but may not survive a power loss.
    public func export(
        to path: String, for slots: [NewSlot], contents contentsKind: BackupContents = .everything
    ) throws(VaultError) -> ExportReport {
        do throws(VaultError) {
            let target = try BackupTarget(path)
            let (writer, bytes) = try backup(contentsKind, for: slots)
            // Before the file exists, so that no backup exists without an entry in the log.
            note(.exported, outcome: .intended)
            try target.create(bytes)
            note(.exported)
            return ExportReport(
                path: path, size: bytes.count, itemCount: try writer.items().count,
                leftOut: try writer.leftOut().map(VaultItem.init), keys: writer.keyring.map(KeySummary.init))
        } catch {
            if error.code == .durabilityUnknown {
                note(.exported)
            } else if error.code.leavesTheLog {
                note(.exported, outcome: error.code == .locked ? .refused : .failed)
            }
            throw error
        }
    }

    /// The number of tries of a backup overtaken by another program's change, before it takes the vault's lock.
    private static var maximumOvertaken: Int { 3 }

    /// Creates a backup's bytes. Between reading the index and reading a value file, a writer may replace the item and
    /// remove the old file. Then the vault is read again, and finally under its lock, which excludes writers.
    private func backup(
        _ kind: BackupContents, for slots: [NewSlot]
    ) throws(VaultError) -> (BackupWriter, [UInt8]) {
        for _ in 0..<Self.maximumOvertaken {
            let contents = try current()
            do throws(VaultError) { return try backup(of: contents, kind, for: slots) } catch {
                // The vault is unchanged, so the value is damaged and a retry would not help.
                guard error.code == .corrupt, try current().marks != contents.marks else { throw error }
            }
        }
        let lock = try lockForChange()
        let made = try backup(of: try reload(), kind, for: slots)
        lock.unlock()
        return made
    }

    private func backup(
        of contents: VaultContents, _ kind: BackupContents, for slots: [NewSlot]
    ) throws(VaultError) -> (BackupWriter, [UInt8]) {
        let root = keys.service
        let isReachable = try keys.reachesPerson()
        let draft =
            isReachable && contents.personFile != nil
            ? try keys.withPerson { person throws(VaultError) in
                try VaultDraft(
                    contents, root: root, person: (person, try contents.person(person, place: place)), slotID: nil,
                    place: place)
            } : try VaultDraft(contents, root: root, person: nil, slotID: nil, place: place)
        let writer = try BackupWriter(of: draft, in: directory, kind, for: slots)
        return (writer, try writer.file())
    }
}

/// The path of a new backup: a free name in a directory that the user chose.
struct BackupTarget {
    let path: String
    let directory: Directory
    let leaf: String

    init(path: String, directory: Directory, leaf: String) {
        self.path = path
        self.directory = directory
        self.leaf = leaf
    }

    /// - Throws: `VaultError` `.invalidArgument` for a path that names no file, `.alreadyExists` for an existing name,
    ///   `.file` or `.denied` if the directory cannot be opened.
    init(_ text: String) throws(VaultError) {
        let path = FilePath(text)
        guard !text.utf8.contains(0), !text.hasSuffix("/"), let leaf = path.lastComponent, leaf.kind == .regular else {
            throw VaultError(.invalidArgument, Self.writing, text, "It does not name a file.")
        }
        self.path = text
        self.leaf = leaf.string
        do throws(FileError) {
            // The dot follows a link in the directory's own name, which is legitimate.
            directory = try Directory.open(path.removingLastComponent().pushing("."))
            guard try !directory.exists(leaf.string) else { throw FileError(.alreadyExists, operation: "", path: text) }
        } catch {
            throw Self.failure(error, text)
        }
    }

    /// Writes the whole file or nothing, and never overwrites an existing one.
    ///
    /// - Throws: `VaultError` `.alreadyExists`, `.file`, `.denied`; `.durabilityUnknown` if the file exists but may not
    ///   survive a power loss.
    func create(_ bytes: [UInt8]) throws(VaultError) {
        do throws(FileError) {
            try bytes.withRawBytes { bytes throws(FileError) in
                try directory.createExclusively(leaf, with: bytes, mode: 0o600)
            }
        } catch {
            throw Self.failure(error, path)
        }
    }

    private static let writing = "write the backup"

    private static func failure(_ error: FileError, _ path: String) -> VaultError {
        if error.code == .durabilityUnknown {
            return VaultError(
                error.advising(
                    "The backup was written. Check the disk (dmesg), then copy it elsewhere or make another."),
                writing, role: .output)
        }
        guard error.code == .alreadyExists else { return VaultError(error, writing, role: .output) }
        return VaultError(
            .alreadyExists, writing, path, "The name is taken.",
            advice: "Choose another name; an export never overwrites a file.")
    }
}

extension FileError {
    /// Returns the same failure with an advice for this use of the file.
    func advising(_ advice: String) -> FileError {
        FileError(code, operation: operation, path: path, errno: errno, advice: advice)
    }
}

/// The included and omitted contents of a backup.
public struct ExportReport: Sendable, Hashable {
    /// The path of the new file.
    public let path: String
    /// Its size in bytes.
    public let size: Int
    /// The number of its items.
    public let itemCount: Int
    /// Items omitted because they are marked `…ThisDeviceOnly`; empty if no items were requested.
    public let leftOut: [VaultItem]
    /// Its sealing keys, without secrets. Destroyed ones are listed without a key.
    package let keys: [KeySummary]

    /// The number of its sealing keys, without destroyed ones.
    public var keyCount: Int { keys.count { $0.state != .destroyed } }
}
