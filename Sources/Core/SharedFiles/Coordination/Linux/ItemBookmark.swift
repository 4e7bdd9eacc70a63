internal import CLinux
internal import Glibc

/// Remembers which file or directory had a path, so that it can be found again after a rename while somebody waited.
final class ItemBookmark: Sendable {
    private let path: ItemPath
    private let file: Descriptor

    /// Nil where nothing has that path.
    init?(_ path: ItemPath) {
        let opened = uninterrupted { open(path.string, clinux_o_path | O_NOFOLLOW | O_CLOEXEC) }
        if opened < 0 { return nil }
        self.path = path
        file = Descriptor(owning: opened, path: path.string)
    }

    /// Where it is now, if its old path stands for nothing any more.
    ///
    /// Where the path stands for something, that is the item: a new version was put in its place.
    func newPath() -> ItemPath? {
        if path.exists { return nil }
        var space = [CChar](repeating: 0, count: ItemPath.maximumLength + 1)
        let count = readlink("/proc/self/fd/\(file.rawValue)", &space, space.count)
        guard count > 0, let text = String(validating: space[..<count], as: UTF8.self),
            let found = ItemPath(claimed: text), found != path
        else { return nil }
        // "(deleted)" at its end is how the kernel says that it has no name; something else may have just that name.
        guard let there = found.attributes, let facts = try? file.attributes(), facts.isSameFile(as: there) else {
            return nil
        }
        return found
    }
}
