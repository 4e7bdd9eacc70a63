internal import Glibc
internal import KeyVault

extension VaultPlace {
    /// Whether anything has the vault's name, also a link to nothing.
    var isTaken: Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }
}
