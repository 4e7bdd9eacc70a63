internal import Glibc

extension Descriptor {
    /// `SEEK_DATA` of <unistd.h>, which Swift sees only with GNU extensions.
    private static let seekData: Int32 = 3

    /// Where the next bytes begin that were ever written: what lies before them is a hole and reads as zeros (lseek(2), `SEEK_DATA`).
    ///
    /// Moves the descriptor's position, which reads at an offset do not use.
    /// - Returns: The position itself where a file system knows no holes; nil where only a hole follows.
    package func nextData(from position: Int64) -> Int64? {
        let found = lseek(rawValue, off_t(position), Self.seekData)
        if found >= 0 { return Int64(found) }
        return errno == ENXIO ? nil : position
    }
}
