internal import SystemPackage

/// Which directory the paths of a SARIF report are below: the current one where the audited one lies in it, since hosts take
/// that for the root of the checked-out source; else the audited one.
struct SARIFPaths {
    /// Absolute.
    let base: String
    /// What leads from the base to the audited directory; empty where they are the same.
    private let prefix: String

    /// - Parameter root: The audited directory as the report has it.
    init(root: String) {
        let root = FilePath(WorkingDirectory.absolute(SARIFPath.original(root))).lexicallyNormalized().string
        let here = WorkingDirectory.absolute(".")
        let directory = here.hasSuffix("/") ? here : here + "/"
        if root == here || root.hasPrefix(directory) {
            base = here
            prefix = root == here ? "" : String(root.dropFirst(directory.utf8.count))
        } else {
            base = root
            prefix = ""
        }
    }

    /// The path of a finding below the base; absolute for what lies outside.
    func path(_ printed: String) -> String {
        let path = SARIFPath.original(printed)
        if path.hasPrefix("/") || prefix.isEmpty { return path }
        return path == "." ? prefix : "\(prefix)/\(path)"
    }
}
