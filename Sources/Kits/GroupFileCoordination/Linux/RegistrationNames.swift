internal import Glibc
internal import SharedFiles

/// A search for registrations in a domain's directory, which other members may have filled with any files.
enum RegistrationNames {
    /// The maximum number of processes with presenters, dead ones included.
    static let maximum = 1024
    /// The maximum number of names of any kind.
    private static let maximumEntries = 16_384

    /// Returns the addresses of all registrations, unordered.
    ///
    /// - Throws: `cancelled`, `presenterTimeout`, `presenterFailed` for too many, or an error of listing the directory.
    static func all(in domain: CoordinationDomain, _ limit: WaitLimit) throws(FileError) -> [String] {
        var names: [String] = []
        var seen = 0
        try visit(domain) { (name) throws(FileError) in
            seen += 1
            if seen % 256 == 0 { try limit.requireTimeForPresenters(domain.directory.display(".")) }
            if let name { names.append(name) }
            if seen > maximumEntries || names.count > maximum {
                throw .tooManyRegistrations(domain.directory.display("."))
            }
        }
        return names
    }

    /// Returns the addresses that are found within the limit.
    static func some(in domain: CoordinationDomain, _ limit: WaitLimit) -> [String] {
        var names: [String] = []
        try? visit(domain) { (name) throws(FileError) in
            if let name { names.append(name) }
            if limit.isOver || names.count > maximum { throw .tooManyRegistrations(domain.directory.display(".")) }
        }
        return names
    }

    /// - Parameter body: gets nil for a name that is not a registration's.
    private static func visit(
        _ domain: CoordinationDomain, _ body: (String?) throws(FileError) -> Void
    ) throws(FileError) {
        let opened = openBeneath(domain.directory.descriptor.rawValue, ".", directoryFlags)
        if opened < 0 { throw domain.directory.error(-opened, "list", ".") }
        guard let stream = fdopendir(opened) else {
            let number = errno
            close(opened)
            throw domain.directory.error(number, "list", ".")
        }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw domain.directory.error(errno, "list", ".") }
                return
            }
            try body(address(of: entry))
        }
    }

    private static func address(of entry: UnsafeMutablePointer<dirent>) -> String? {
        // Read in place: the record may be shorter than the struct that describes it.
        let start = UnsafeRawPointer(entry) + (MemoryLayout<dirent>.offset(of: \.d_name) ?? 19)
        let name = String(cString: start.assumingMemoryBound(to: CChar.self))
        guard CoordinationFile(name: name) == .registration else { return nil }
        return String(name.dropLast(PresenterRegistration.itemsSuffix.count))
    }
}

/// The clock of file system timestamps.
enum SystemTime {
    static var nanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
