internal import Glibc

extension Descriptor {
    /// Opens a file that the person who runs the program named: any path, links followed, pipes waited for.
    ///
    /// Not for names below a container: those go through `Directory.openForReading(_:)`.
    /// - Throws: `notRegularFile` for a directory or a device outside `/dev`.
    package static func openForReading(path: String) throws(FileError) -> Descriptor {
        let opened = uninterrupted { open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) }
        if opened < 0 { throw FileError(errno: -opened, operation: "open", path: path) }
        let file = Descriptor(owning: opened, path: path)
        let kind = try file.attributes().kind
        guard kind == .regular || kind == .fifo || path.hasPrefix("/dev/") else {
            throw FileError(
                .notRegularFile, operation: "open", path: path, advice: "Name a file; this is a \(kind.rawValue).")
        }
        return file
    }
}

extension Directory {
    /// Whether something has that name, whatever it is; an error when that can't be told.
    package func exists(_ relative: String) throws(FileError) -> Bool {
        do throws(FileError) {
            _ = try attributes(relative)
            return true
        } catch {
            guard error.code == .notFound else { throw error }
            return false
        }
    }
}
