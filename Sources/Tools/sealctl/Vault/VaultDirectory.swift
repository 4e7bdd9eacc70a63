internal import KeyVault
internal import SystemPackage

/// The directory that `--vault` means: itself, or that of the vault file which it names.
enum VaultDirectory {
    static func path(_ text: String) -> FilePath {
        let path = FilePath(text)
        return path.lastComponent?.string == VaultPlace.leaf ? path.removingLastComponent() : path
    }
}
