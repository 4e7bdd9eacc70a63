internal import Glibc

extension Descriptor {
    /// Opens a file that the person who runs the program named: any path, links followed, pipes waited for.
    ///
    /// Not for names below a container: those go through `Directory.openForReading(_:)`.
    /// - Throws: `FileError`, `.notRegularFile` for a directory or device.
    package static func openForReading(path: String) throws(FileError) -> Descriptor {
        let opened = retryingInterrupts { Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) }
        guard opened >= 0 else { throw FileError(errno: errno, operation: "open", path: path) }
        let file = Descriptor(owning: opened, path: path)
        let kind = try file.attributes().kind
        guard kind == .regular || kind == .fifo || path.hasPrefix("/dev/") else {
            throw FileError(
                .notRegularFile, operation: "open", path: path, advice: "Name a file; this is a \(kind.rawValue).")
        }
        return file
    }
}

/// Repeats a call that a signal interrupted before it did anything.
private func retryingInterrupts(_ call: () -> Int32) -> Int32 {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}

extension Directory {
    /// Whether something has that name, whatever it is.
    ///
    /// - Throws: `FileError` when that cannot be told.
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
