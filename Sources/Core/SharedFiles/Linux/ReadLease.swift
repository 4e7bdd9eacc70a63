internal import Glibc

/// A read lease of fcntl(2): refused while anybody has the file open for writing; and while it is held, whoever opens it for
/// writing waits, or gets `EWOULDBLOCK`.
///
/// Not every file system has leases, and only the file's owner gets one: then nothing is known. It ends with its descriptor,
/// or when it is released.
struct ReadLease: ~Copyable {
    private let descriptor: Int32
    private let isHeld: Bool

    /// - Parameter descriptor: Open for reading only, and longer than this value lives.
    /// - Throws: `overtaken` while somebody has the file open for writing.
    init(_ descriptor: borrowing Descriptor, _ operation: String) throws(FileError) {
        self.descriptor = descriptor.rawValue
        // Whoever waits for the lease has this process signalled: with SIGIO, which ends it, unless another one is named.
        // SIGURG does nothing to a program that does not ask for it.
        guard fcntl(self.descriptor, Self.setSignal, SIGURG) == 0 else {
            isHeld = false
            return
        }
        isHeld = fcntl(self.descriptor, Self.setLease, Int32(F_RDLCK)) == 0
        guard !isHeld, errno == EAGAIN else { return }
        throw FileError(
            .overtaken, operation: operation, path: descriptor.path,
            advice: "Another program has it open for writing; end that program and try again.")
    }

    /// Whether nobody has asked to write since; true where there is no lease.
    var isUnbroken: Bool { !isHeld || fcntl(descriptor, Self.getLease) == Int32(F_RDLCK) }

    deinit {
        if isHeld { _ = fcntl(descriptor, Self.setLease, Int32(F_UNLCK)) }
    }

    // fcntl.h has them for GNU programs only.
    private static let setSignal: Int32 = 10
    private static let setLease: Int32 = 1024
    private static let getLease: Int32 = 1025
}

extension Descriptor {
    /// Refuses a file that somebody has open for writing, where that can be told.
    ///
    /// - Throws: `overtaken`.
    package func requireNoWriter() throws(FileError) { _ = try ReadLease(self, "take over") }
}
