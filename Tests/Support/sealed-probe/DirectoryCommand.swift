internal import SharedFiles

/// `make-directory PATH OCTAL-MODE`: creates a directory with its parents. Prints `made` or the error's code.
func makeDirectoryCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 2, let mode = UInt32(arguments[1], radix: 8) else { return 64 }
    do throws(FileError) {
        _ = try Directory.create(arguments[0], mode: mode)
        say("made")
        return 0
    } catch {
        say(error.code.rawValue)
        return 1
    }
}

/// `walk PATH`: prints each entry's path, followed by its error's code if it has one.
func walkCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 1 else { return 64 }
    do throws(FileError) {
        try Directory.open(arguments[0]).walk(maximumDepth: 16) { entry in
            say(entry.path + (entry.error.map { " " + $0.code.rawValue } ?? ""))
        }
        return 0
    } catch {
        say(error.code.rawValue)
        return 1
    }
}
