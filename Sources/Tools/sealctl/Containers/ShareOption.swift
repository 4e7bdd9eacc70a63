internal import ArgumentParser
internal import Glibc
internal import SharedFiles

/// With whom a new container or vault is shared.
struct ShareOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Share it with a unix group's members, by name or number; else it is its owner's alone.",
            valueName: "UNIXGROUP"))
    var shareWith: String?

    /// - Throws: `Failure` `unknownUnixGroup`.
    func sharing() throws(Failure) -> Sharing {
        guard let shareWith else { return .ownerOnly }
        guard let number = Self.number(of: shareWith) else {
            throw Failure(
                .usage, "unknownUnixGroup", "there is no unix group \"\(shareWith)\"",
                hint: "See which there are: getent group.")
        }
        return .unixGroup(number)
    }

    /// As chgrp(1) has it, a name goes before a number.
    private static func number(of name: String) -> UInt32? {
        var size = 1 << 12
        while size <= 1 << 20 {
            var group = group()
            var found: UnsafeMutablePointer<group>?
            let status = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) {
                getgrnam_r(name, &group, $0.baseAddress, $0.count, &found)
            }
            if status != ERANGE { return found == nil ? UInt32(name) : group.gr_gid }
            // A group with many members needs more room.
            size *= 4
        }
        return nil
    }
}
