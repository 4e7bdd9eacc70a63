internal import CryptoPrimitives
internal import SharedFiles
internal import SystemPackage

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
