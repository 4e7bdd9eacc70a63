public import FoundationEssentials
public import SharedFiles
internal import SystemPackage

extension GroupContainer {
    /// The container's directory, as `FileManager.containerURL(forSecurityApplicationGroupIdentifier:)` gives it.
    ///
    /// | | ``ContainerBehavior/iOS`` | ``ContainerBehavior/macOS`` |
    /// | --- | --- | --- |
    /// | a group that the entitlements do not hold, or no group identifier | nil | a path of the expected form; nothing is made there |
    /// | a group without a container | makes one under a name that says nothing, with `Library/Caches` | makes one under the identifier, with all standard directories |
    /// | a container that can't be used as it is | nil | its path |
    ///
    /// So with ``ContainerBehavior/macOS`` test that you can use what you get. ``open(_:in:creating:sharing:behavior:entitlements:)``
    /// says instead why it can't be had, and is the call to prefer.
    ///
    /// - Parameters:
    ///   - identifier: The app group, as the program has it.
    ///   - behavior: Which system's promise is kept.
    ///   - home: Where containers lie; this process's home unless stated.
    ///   - sharing: Who may use a container that this call makes.
    ///   - entitlements: Whose entitlements have to hold the group; this program's unless stated.
    /// - Returns: nil with ``ContainerBehavior/iOS`` as said; with ``ContainerBehavior/macOS`` only where this process has no home.
    public static func url(
        forSecurityApplicationGroupIdentifier identifier: String, behavior: ContainerBehavior = .macOS,
        in home: GroupsHome? = nil, sharing: Sharing = .ownerOnly, entitlements: EntitlementPolicy = .program
    ) -> URL? {
        guard let home = home ?? (try? GroupsHome.current()) else { return nil }
        guard let group = try? AppGroup(identifier) else {
            return behavior == .iOS ? nil : url(home.containersPath.appending(UnusableName.of(identifier)))
        }
        // Identifiers with a team before them are the Mac's: in iOS they begin with "group.".
        if behavior == .iOS && group.form == .teamPrefixed { return nil }
        if let container = try? open(
            group, in: home, sharing: sharing, behavior: behavior, entitlements: entitlements)
        {
            return url(container.root.path)
        }
        if behavior == .iOS { return nil }
        // What is not held is not looked for either: where another's container lies is no answer of the expected form.
        let isHeld = (try? entitlements.require(group)) != nil
        let place = isHeld ? try? place(of: group, in: home) : nil
        return url(place ?? home.containersPath.appending(group.identifier))
    }

    private static func url(_ path: FilePath) -> URL { URL(filePath: path.string, directoryHint: .isDirectory) }
}

/// Names for identifiers that no group has: below `Containers`, and of nothing that is or will be there.
private enum UnusableName {
    private static let maximumLength = 240

    /// Everything outside the alphabet of identifiers is escaped, as in a URL, and so is a first character that would make
    /// it a hidden name, another directory's or an opaque container's.
    static func of(_ identifier: String) -> String {
        var name = ""
        for (offset, byte) in identifier.utf8.enumerated() {
            let isPlain = byte.isAllowedInIdentifier && !(offset == 0 && mustEscapeFirst(identifier))
            name += isPlain ? String(UnicodeScalar(byte)) : escaped(byte)
            if name.utf8.count > maximumLength { break }
        }
        return name.isEmpty ? "%" : name
    }

    private static func mustEscapeFirst(_ identifier: String) -> Bool {
        identifier.hasPrefix(".") || OpaqueName.isWellFormed(identifier)
    }

    private static func escaped(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return "%" + (digits.utf8.count == 1 ? "0" : "") + digits
    }
}
