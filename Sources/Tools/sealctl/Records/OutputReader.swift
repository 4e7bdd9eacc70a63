internal import Glibc

/// Notices that nobody reads standard output any more, while there is nothing to write that would show it.
final class OutputReader: Sendable {
    private let body: @Sendable () -> Void

    private init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// - Parameter body: Called on a thread of its own, once, when standard output is a pipe or socket whose other end has
    ///   gone.
    static func whenGone(_ body: @escaping @Sendable () -> Void) {
        var facts = stat()
        guard fstat(1, &facts) == 0, [S_IFIFO, S_IFSOCK].contains(facts.st_mode & S_IFMT) else { return }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(OutputReader(body))
        // Where there is no thread to be had, the next write shows it.
        guard pthread_create(&thread, nil, outputReaderMain, context.toOpaque()) == 0 else { return context.release() }
        pthread_detach(thread)
    }

    fileprivate func run() {
        // Nothing is asked for: that the other end has gone is always reported.
        var request = pollfd(fd: 1, events: 0, revents: 0)
        while poll(&request, 1, -1) < 0 { guard errno == EINTR else { return } }
        if request.revents & Int16(POLLERR | POLLHUP) != 0 { body() }
    }
}

private func outputReaderMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<OutputReader>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
