internal import AppGroups
internal import KeyVault
internal import Sealing
internal import SharedFiles

extension InputFile {
    /// Everything from here to the end, counted.
    func source(_ progress: Progress) -> StreamSource<FileError> {
        { (buffer: UnsafeMutableRawBufferPointer) throws(FileError) in
            let count = try self.read(into: buffer)
            progress.advance(count)
            return count
        }
    }

    /// The same without moving the position; for regular files.
    func rereadableSource(from start: Int64, _ progress: Progress) -> StreamSource<FileError> {
        let position = Position(start)
        return { (buffer: UnsafeMutableRawBufferPointer) throws(FileError) in
            let count = try self.descriptor.pread(into: buffer, at: position.value)
            position.advance(count)
            progress.advance(count)
            return count
        }
    }
}
