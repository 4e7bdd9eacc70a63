internal import Glibc

/// Who is asking, as the log enters it. It tells of honest programs; a process can lie about itself.
enum RunningProcess {
    /// Asked each time: a fork has another one.
    static var pid: UInt32 { UInt32(bitPattern: getpid()) }
    static var uid: UInt32 { geteuid() }

    /// What `/proc/self/exe` points to, proc(5): the bytes of a path; empty where there is no /proc. Read once, since an
    /// `exec` starts anew.
    static let executable: [UInt8] = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
        count = buffer.withMemoryRebound(to: CChar.self) { space in
            space.baseAddress.map { max(0, readlink("/proc/self/exe", $0, space.count)) } ?? 0
        }
    }
}
