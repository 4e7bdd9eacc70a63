package import AppGroups
internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// The team key that the administrator of a machine states for a group: `/etc/sealedstate/<group>.team`, a line
/// `sealedteam1…`; empty lines and lines that begin with `#` are passed over.
package struct TeamKeySettings: Sendable {
    /// The directory of the files.
    package let directory: String

    package init(directory: String) { self.directory = directory }

    /// Those of the system; tests put others in their place for the length of a call.
    @TaskLocal package static var current = TeamKeySettings(directory: "/etc/sealedstate")

    private static let maximumSize = 4096

    /// The file of a group.
    package func path(of group: AccessGroup) -> String { "\(directory)/\(group.identifier).team" }

    /// The key that the file states; nil only where there is no file.
    ///
    /// - Throws: `VaultError` `.unsafeFile` for a file that others than root and this user may change, `.malformedKey`, `.file`.
    package func teamKey(of group: AccessGroup) throws(VaultError) -> TeamPublicKey? {
        let path = path(of: group)
        // The usual case, at the price of one call.
        if access(path, F_OK) != 0 && errno == ENOENT { return nil }
        let bytes: [UInt8]
        do throws(FileError) {
            let directory = try Directory.open(FilePath(directory))
            let leaf = "\(group.identifier).team"
            let facts = try directory.attributes(leaf)
            guard facts.uid == 0 || facts.uid == geteuid(), facts.mode & (S_IWGRP | S_IWOTH) == 0 else {
                throw FileError(
                    .unsafeMode, operation: "trust", path: path,
                    advice: "Give it to root, writable for nobody else: chown 0 and chmod 644 \(path.shellQuoted)")
            }
            bytes = try directory.read(leaf, limit: Self.maximumSize)
        } catch {
            throw VaultError(error, "read the team key", role: .input)
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { $0.trimmingBlanks }
        let keys = lines.filter { !$0.isEmpty && !$0.hasPrefix("#") }
        guard keys.count == 1, let text = keys.first else {
            throw VaultError(
                .malformedKey, "read the team key", path, "It holds \(keys.count) keys; one is expected.",
                advice: "Write one line: sealedteam1 and 58 characters.")
        }
        return try TeamPublicKey(String(text))
    }
}

extension Substring {
    fileprivate var trimmingBlanks: Substring {
        var text = drop { $0 == " " || $0 == "\t" || $0 == "\r" }
        while let last = text.last, last == " " || last == "\t" || last == "\r" { text.removeLast() }
        return text
    }
}
