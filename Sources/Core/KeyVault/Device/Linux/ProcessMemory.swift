internal import CLinux

/// The memory of this process as other processes see it.
package enum ProcessMemory {
    /// Keeps other processes of the same user from looking into this one (ptrace(2), `/proc/PID/mem`), and this one out of
    /// core files; programs that it starts are as any other.
    ///
    /// Root can look all the same. The call cannot fail for the value that it passes.
    package static func hide() { _ = clinux_set_dumpable(0) }
}
