internal import CLinux
internal import Glibc

extension Directory {
    /// The same directory for somebody who only looks: what is opened, listed and read through it keeps its access time.
    ///
    /// `O_NOATIME` of open(2) is for the owner of a file and for root. Others read as always, and the system may note
    /// that they did.
    package func withoutTrace() throws(FileError) -> Directory {
        let opened = tracelessly(".", directoryFlags)
        if opened < 0 { throw error(-opened, "open the directory", ".") }
        return Directory(path: path, owning: opened, leavesNoTrace: true)
    }

    /// Opens below this directory for reading, as `openBeneath` does.
    func openToRead(_ relative: String, _ flags: Int32) -> Int32 {
        leavesNoTrace ? tracelessly(relative, flags) : openBeneath(descriptor.rawValue, relative, flags)
    }

    private func tracelessly(_ relative: String, _ flags: Int32) -> Int32 {
        let opened = openBeneath(descriptor.rawValue, relative, flags | clinux_o_noatime)
        // Somebody else's: only that flag is refused with this number.
        return opened == -EPERM ? openBeneath(descriptor.rawValue, relative, flags) : opened
    }
}
