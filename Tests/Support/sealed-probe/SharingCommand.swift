internal import Glibc
internal import SharedFiles

/// `share PATH GID`: creates a directory for a unix group, with its missing parents. Prints `made` or the error's code.
func shareCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 2, let group = UInt32(arguments[1]) else { return 64 }
    return answering { () throws(FileError) in
        _ = try Directory.create(arguments[0], sharing: .unixGroup(group))
        return "made"
    }
}

/// `trust PATH`: prints the users of a directory, `ownerOnly` or the unix group's number, or the reason why it is not
/// trusted.
func trustCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 1 else { return 64 }
    return answering { () throws(FileError) in
        try Directory.open(arguments[0]).requireTrusted().groupID.map { "\($0)" } ?? "ownerOnly"
    }
}

/// `own PATH`: creates or opens a directory of one user. Prints `own` or the error's code.
func ownCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 1 else { return 64 }
    return answering { () throws(FileError) in
        _ = try Directory.createOwn(arguments[0])
        return "own"
    }
}

/// `append DIRECTORY NAME TEXT`: appends to a file of a directory, with the mode that the directory determines. Prints
/// `appended` or the error's code.
func appendCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3 else { return 64 }
    return answering { () throws(FileError) in
        let directory = try Directory.open(arguments[0])
        try Array(arguments[2].utf8).withUnsafeBufferPointer { (bytes) throws(FileError) in
            try directory.append(arguments[1], UnsafeRawBufferPointer(bytes), mode: directory.fileMode)
        }
        return "appended"
    }
}

private func answering(_ body: () throws(FileError) -> String) -> Int32 {
    do throws(FileError) {
        say(try body())
        return 0
    } catch {
        say(error.code.rawValue)
        return 1
    }
}
