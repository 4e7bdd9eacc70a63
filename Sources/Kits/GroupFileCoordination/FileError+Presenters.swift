internal import SharedFiles

extension FileError {
    /// - Parameter process: the asked process, by the kernel's credentials.
    static func presenterTimeout(_ path: String, process: Int32) -> FileError {
        FileError(
            .presenterTimeout, operation: "coordinate", path: path,
            advice: "Process \(process) presents it and does not answer; check whether it is stopped: "
                + "ps -o pid,stat,args -p \(process)")
    }

    /// Returns the error of a search for presenters that has used up the time.
    static func presenterSearchTimeout(_ directory: String) -> FileError {
        FileError(
            .presenterTimeout, operation: "search for presenters", path: directory,
            advice: "See the owners of its files: ls -ln \(directory.shellQuoted)")
    }

    /// Returns the error of more registrations, or more processes to ask, than the library ever creates.
    static func tooManyRegistrations(_ directory: String) -> FileError {
        FileError(
            .presenterFailed, operation: "search for presenters", path: directory,
            advice:
                "Too many processes are registered as presenters; see the owners of the files and remove those that no "
                + "process uses: ls -ln \(directory.shellQuoted)")
    }

    /// - Parameter reason: the code that the presenter gave; nil if it gave none.
    static func presenterFailed(_ path: String, process: Int32, reason: String?) -> FileError {
        let answer = reason.map { "answered \"\($0.prefix(64))\"" } ?? "broke off"
        return FileError(
            .presenterFailed, operation: "coordinate", path: path,
            advice: "A presenter in process \(process) \(answer); try again, or see the process: ps -p \(process)")
    }
}
