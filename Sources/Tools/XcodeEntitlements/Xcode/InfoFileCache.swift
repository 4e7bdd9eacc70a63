/// Files that were asked for what they tell: several configurations name the same one.
final class InfoFileCache {
    private var files: [String: InfoFile?] = [:]

    /// Nil where the file cannot be read as a property list.
    func read(_ path: String) -> InfoFile? {
        if let known = files[path] { return known }
        let file = ProjectFiles.isPossible(path) ? InfoFile.read(path) : nil
        files[path] = .some(file)
        return file
    }
}
