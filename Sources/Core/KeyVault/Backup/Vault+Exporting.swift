internal import CryptoPrimitives
internal import SharedFiles
internal import SystemPackage

extension Vault {
    /// Writes a backup: one file that restores the vault on this machine or another.
    ///
    /// The file has keys of its own, and nothing in it opens the vault that it was made from. Values and keys pass one at
    /// a time through secret memory; only the finished, sealed file reaches the disk, with mode 0600, under a name that
    /// was free. The access log says that a backup is about to be made, and then that it was.
    /// - Parameters:
    ///   - path: The new file. Its directory is taken as it is.
    ///   - slots: What opens it, one at least: passphrases and recipients, none of them unattended.
    ///   - contents: What goes in.
    /// - Returns: What went in, and the items marked `…ThisDeviceOnly` that did not.
    /// - Throws: `VaultError` `.alreadyExists` for a name that is taken; `.invalidArgument` for other slots; `.locked` where
    ///   a part of what was asked for is locked; `.corrupt` for a value that does not fit its entry; `.outOfMemory`,
    ///   `.tooCostly`; `.lockTimeout` where other programs kept changing items, and one of them held the vault's lock;
    ///   `.file`, `.denied`; those of every look at the vault. Nothing is left behind then. `.durabilityUnknown` where
    ///   the backup is there, and a power loss may take it away.
    public func export(
        to path: String, for slots: [NewSlot], contents contentsKind: BackupContents = .everything
    ) throws(VaultError) -> ExportReport {
        do throws(VaultError) {
            let target = try BackupTarget(path)
            let (writer, bytes) = try backup(contentsKind, for: slots)
            // Before the file is there: no backup is made that the log does not know of.
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

    /// How often a backup that another program's change overtook is begun again before it takes the vault's lock.
    private static var maximumOvertaken: Int { 3 }

    /// Makes a backup's bytes. A writer may replace an item, and remove the old value file, between the looks at the index
    /// and at that file: then the vault is read again, and in the end under its lock, which keeps writers out.
    private func backup(
        _ kind: BackupContents, for slots: [NewSlot]
    ) throws(VaultError) -> (BackupWriter, [UInt8]) {
        for _ in 0..<Self.maximumOvertaken {
            let contents = try current()
            do throws(VaultError) { return try backup(of: contents, kind, for: slots) } catch {
                // The same files: the value is damaged, and stays so.
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

/// The place of a backup that is to be written: a name that is free, in a directory that a person chose.
struct BackupTarget {
    let path: String
    let directory: Directory
    let leaf: String

    init(path: String, directory: Directory, leaf: String) {
        self.path = path
        self.directory = directory
        self.leaf = leaf
    }

    /// - Throws: `VaultError` `.invalidArgument` for what names no file, `.alreadyExists` where there is something,
    ///   `.file` or `.denied` where the directory cannot be opened.
    init(_ text: String) throws(VaultError) {
        let path = FilePath(text)
        guard !text.utf8.contains(0), !text.hasSuffix("/"), let leaf = path.lastComponent, leaf.kind == .regular else {
            throw VaultError(.invalidArgument, Self.writing, text, "It names no file.")
        }
        self.path = text
        self.leaf = leaf.string
        do throws(FileError) {
            // The dot follows a link in the directory's own name, which a person may well have.
            directory = try Directory.open(path.removingLastComponent().pushing("."))
            guard try !directory.exists(leaf.string) else { throw FileError(.alreadyExists, operation: "", path: text) }
        } catch {
            throw Self.failure(error, text)
        }
    }

    /// Writes the file whole, or nothing: never over one that is there.
    ///
    /// - Throws: `VaultError` `.alreadyExists`, `.file`, `.denied`; `.durabilityUnknown` where the file is there, and a
    ///   power loss may take it away.
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
                error.advising("The backup is there. Check the disk (dmesg), then copy it elsewhere or make another."),
                writing, role: .output)
        }
        guard error.code == .alreadyExists else { return VaultError(error, writing, role: .output) }
        return VaultError(
            .alreadyExists, writing, path, "There is something of that name.",
            advice: "Choose another name; a backup is never written over a file.")
    }
}

extension FileError {
    /// The same failure with an advice that knows what the file was.
    func advising(_ advice: String) -> FileError {
        FileError(code, operation: operation, path: path, errno: errno, advice: advice)
    }
}

/// What went into a backup, and what did not.
public struct ExportReport: Sendable, Hashable {
    /// The file that was made.
    public let path: String
    /// Its size in bytes.
    public let size: Int
    /// How many items it holds.
    public let itemCount: Int
    /// Items that were left out because they are marked `…ThisDeviceOnly`; empty where no item was asked for.
    public let leftOut: [VaultItem]
    /// Its sealing keys, without anything secret. Destroyed ones are named there; nothing of them is left to keep.
    package let keys: [KeySummary]

    /// How many sealing keys it holds, destroyed ones not counted.
    public var keyCount: Int { keys.count { $0.state != .destroyed } }
}
