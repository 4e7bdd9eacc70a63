internal import Dispatch
internal import Glibc
internal import ServiceLifecycle

/// Ends when whoever started the widget with a pipe for its input has closed it, so that no widget is left behind without
/// anybody to show something to.
struct InputHangup: Service {
    func run() async throws {
        let (hangups, hangup) = AsyncStream.makeStream(of: Never.self)
        DispatchQueue(label: "input").async {
            // Asks for nothing: only a hang-up is told.
            var input = pollfd(fd: STDIN_FILENO, events: 0, revents: 0)
            while poll(&input, 1, -1) < 0 && errno == EINTR {}
            hangup.finish()
        }
        await cancelWhenGracefulShutdown { for await _ in hangups {} }
    }
}
