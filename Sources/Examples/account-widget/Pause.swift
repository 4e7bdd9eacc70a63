internal import Glibc

/// The time between two looks.
enum Pause {
    /// Waits; false when whoever started the widget with a pipe for its input has closed it, so that no widget is left
    /// behind without anybody to show something to.
    static func wait(milliseconds: Int32) -> Bool {
        var input = pollfd(fd: STDIN_FILENO, events: 0, revents: 0)
        guard poll(&input, 1, milliseconds) > 0 else { return true }
        return input.revents & Int16(POLLHUP) == 0
    }
}
