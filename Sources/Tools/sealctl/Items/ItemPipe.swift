internal import Glibc
internal import KeyVault
internal import SharedFiles

/// A pipe that contains an item's value and nothing else, for a program that is about to start.
///
/// The kernel keeps the value in memory that is never swapped. Reading the value removes it from the pipe.
final class ItemPipe: Sendable {
    /// The descriptor's number in the program.
    let number: Int32
    private let reader: Descriptor

    /// - Parameter floor: All descriptors of this pipe get higher numbers.
    init(_ binding: DescriptorBinding, from vault: Vault, above floor: Int32) throws(Failure) {
        number = binding.number
        let item = binding.item
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Self.failure(item, errno) }
        let first = Descriptor(owning: ends[0], path: "pipe")
        let writer = Descriptor(owning: ends[1], path: "pipe")
        // The kept descriptor must not be overwritten when another item gets its number, nor outlive a failed start.
        let moved = fcntl(first.rawValue, F_DUPFD_CLOEXEC, floor + 1)
        guard moved >= 0, fcntl(writer.rawValue, F_SETFD, FD_CLOEXEC) == 0 else { throw Self.failure(item, errno) }
        reader = Descriptor(owning: moved, path: "pipe")
        let error = try item.withValue(from: vault) { Self.fill(writer.rawValue, with: $0) }
        if error != 0 { throw Self.failure(item, error) }
    }

    /// Gives the pipe its number. The descriptor stays open when the program starts.
    func place() throws(Failure) {
        guard dup2(reader.rawValue, number) >= 0 else {
            throw Failure(
                errno == EBADF ? .usage : .systemError, "noDescriptor",
                "descriptor \(number) cannot be passed to the program", hint: "Try a lower number.")
        }
    }

    /// Writes without blocking, because the pipe has no reader yet. Returns an error number, or 0.
    private static func fill(_ writer: Int32, with value: UnsafeRawBufferPointer) -> Int32 {
        // F_SETPIPE_SZ of fcntl(2), which the C library does not export. 1 MiB, the limit for an ordinary user, holds
        // any value.
        _ = fcntl(writer, 1031, Int32(clamping: max(4096, value.count)))
        guard fcntl(writer, F_SETFL, O_NONBLOCK) == 0 else { return errno }
        var rest = value[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = write(writer, part.baseAddress, part.count)
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }

    private static func failure(_ item: ItemReference, _ error: Int32) -> Failure {
        guard error == EAGAIN else {
            return Failure(
                .systemError, "noPipe",
                "no pipe could be created for \(item.subject): \(String(cString: strerror(error)))",
                hint: "Try a lower descriptor, or close some.")
        }
        return Failure(
            .systemError, "pipeTooSmall", "the value of \(item.subject) is too large for a pipe of this user",
            hint: "Close other pipes, or raise fs.pipe-max-size and fs.pipe-user-pages-soft.")
    }
}
