internal import SealedBackends
internal import SharedFiles

/// A blob's file, held open.
///
/// Its name is looked up from the container's parent directory, as by a reading: a container that was moved away takes
/// its files with it, and their names then belong to other files.
final class HeldFile: HeldBlob {
    private let content: HeldContent
    private let file: FileLocation
    private let anchor: ContainerAnchor

    init(_ content: consuming HeldContent, _ file: FileLocation, _ anchor: ContainerAnchor) {
        self.content = content
        self.file = file
        self.anchor = anchor
    }

    var bytes: [UInt8] { content.bytes }

    var isCurrent: Bool {
        guard let (directory, path) = try? anchor.place(of: file) else { return false }
        return content.isNamed(path, in: directory)
    }
}
