internal import Glibc
internal import SharedFiles

extension Directory {
    /// Replaces a small file that several programs may write at once, without a lock that one of them could keep: the last
    /// one wins, and each is told that its own value was in place. Unsynced.
    ///
    /// Under random names writers do not meet, but one that clears away what crashed ones left can take a file that was
    /// made an instant ago. Its writer then begins again.
    func replaceRacing(_ leaf: String, with bytes: UnsafeRawBufferPointer, mode: mode_t) throws(FileError) {
        var attempts = 16
        while true {
            do throws(FileError) {
                return try replace(leaf, with: bytes, mode: mode, durability: .unsynced, strategy: .named)
            } catch {
                attempts -= 1
                guard error.code == .overtaken, attempts > 0 else { throw error }
            }
        }
    }
}
