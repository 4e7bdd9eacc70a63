internal import CryptoPrimitives
internal import Glibc
internal import Sealing
internal import SharedFiles
internal import SystemPackage

extension Personalization {
    /// The name of a marker; `docs/watermarks.md` lists it.
    static let watermarkMarker = Personalization("SealedState.wmm1")
}

/// A note in the vault's directory that this user's programs, at this place on this machine, have written a watermark
/// file.
///
/// Without it a lost file and a first contact would look the same. The note is in another directory, so that it is not
/// lost with the file. Its name is a hash of user, machine and place, so that another home, user or machine has its
/// own.
struct WatermarkMarker: Sendable {
    private let directory: FilePath
    private let leaf: String

    /// - Parameters:
    ///   - directory: The vault's directory.
    ///   - path: The watermark file's path.
    ///   - key: The watermark key.
    init(in directory: FilePath, for path: FilePath, key: borrowing SecretBytes) {
        self.directory = directory
        var place = Array("\(geteuid()) \(path)".utf8)
        if let machine = try? MachineIdentity.read() { place += machine.tag }
        let tag = key.withUnsafeBytes { key in
            place.withRawBytes { place in
                Bytes16(filling: { BLAKE2b.hash(place, key: key, personalization: .watermarkMarker, into: $0) })
            }
        }
        leaf = ".marks.\(tag.hexadecimal)"
    }

    /// `true` if the file was written before. A failed check counts as a first contact.
    var exists: Bool {
        guard let directory = try? Directory.open(directory) else { return false }
        return (try? directory.attributes(leaf)) != nil
    }

    /// Leaves the note. In a vault's directory that this user may not write it does nothing.
    func leave() throws(FileError) {
        let directory = try Directory.open(directory)
        _ = try directory.openOrMake(
            leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, mode: directory.fileMode, "note the watermarks in")
    }

    /// Removes the note after a person accepted the loss.
    func remove() throws(FileError) {
        do throws(FileError) {
            try Directory.open(directory).remove(leaf, durability: .unsynced)
        } catch {
            if error.code != .notFound { throw error }
        }
    }
}
