internal import CLinux

/// The visibility of this process's memory to other processes.
package enum ProcessMemory {
    /// Prevents other processes of the same user from reading this process's memory (ptrace(2), `/proc/PID/mem`), and
    /// prevents core files. Child programs are not affected.
    ///
    /// Root can still read it. The call cannot fail for the value that it passes.
    package static func hide() { _ = clinux_set_dumpable(0) }
}
