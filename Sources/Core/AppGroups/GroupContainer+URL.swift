public import FoundationEssentials
public import SharedFiles
internal import SystemPackage

extension GroupContainer {
    /// Returns the container's directory, like `FileManager.containerURL(forSecurityApplicationGroupIdentifier:)`.
    ///
    /// | | ``ContainerBehavior/iOS`` | ``ContainerBehavior/macOS`` |
    /// | --- | --- | --- |
    /// | a group that the entitlements do not contain, or an invalid identifier | nil | a path of the expected form; nothing is created there |
    /// | a group without a container | creates one under a random name, with `Library/Caches` | creates one under the identifier, with all standard directories |
    /// | a container that can't be used as it is | nil | its path |
    ///
    /// With ``ContainerBehavior/macOS`` a caller has to test whether the result can be used.
    /// ``open(_:in:creating:sharing:behavior:entitlements:)`` throws the reason instead, and is the preferred call.
    ///
    /// - Parameters:
    ///   - identifier: The program's app group.
    ///   - behavior: The system whose documented behaviour applies.
    ///   - home: The home of the containers; this process's home unless stated.
    ///   - sharing: The users of a container that this call creates.
    ///   - entitlements: The entitlements that have to contain the group; this program's unless stated.
    /// - Returns: nil with ``ContainerBehavior/iOS`` as described; with ``ContainerBehavior/macOS`` only if this
    ///   process has no home.
    public static func url(
        forSecurityApplicationGroupIdentifier identifier: String, behavior: ContainerBehavior = .macOS,
        in home: GroupsHome? = nil, sharing: Sharing = .ownerOnly, entitlements: EntitlementPolicy = .program
    ) -> URL? {
        guard let home = home ?? (try? GroupsHome.current()) else { return nil }
        guard let group = try? AppGroup(identifier) else {
            return behavior == .iOS ? nil : url(home.containersPath.appending(UnusableName.of(identifier)))
        }
        // Team-prefixed identifiers belong to macOS: in iOS they begin with "group.".
        if behavior == .iOS && group.form == .teamPrefixed { return nil }
        if let container = try? open(
            group, in: home, sharing: sharing, behavior: behavior, entitlements: entitlements)
        {
            return url(container.root.path)
        }
        if behavior == .iOS { return nil }
        // A group that is not held is not looked up: another program's container path does not have the expected form.
        let isHeld = (try? entitlements.require(group)) != nil
        let place = isHeld ? try? place(of: group, in: home) : nil
        return url(place ?? home.containersPath.appending(group.identifier))
    }

    private static func url(_ path: FilePath) -> URL { URL(filePath: path.string, directoryHint: .isDirectory) }
}

/// Names for invalid identifiers: below `Containers`, and never the name of a container.
private enum UnusableName {
    private static let maximumLength = 240

    /// Escapes every character outside the alphabet of identifiers, as in a URL, and a first character that would make
    /// a hidden name, another directory's or an opaque container's.
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
