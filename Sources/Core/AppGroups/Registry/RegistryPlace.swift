internal import Glibc
internal import PropertyLists
internal import SharedFiles
internal import SystemPackage

/// The files of one group's registry: `Registry/<group>/container.plist`, and the lock beside it.
///
/// Each group has a directory, since in a shared home `Registry` has the sticky bit: no member could replace a file of
/// another member there.
struct RegistryPlace: Sendable {
    static let entryFile = "container.plist"
    private static let lockFile = "lock"
    /// Lock holders move directories and write small files; they wait for nothing else meanwhile.
    private static let timeout: Duration = .seconds(10)

    let group: AppGroup
    let home: GroupsHome
    /// `true` to reject a registry that others may change; `false` for diagnosis.
    var isStrict = true

    /// The path of the entry, existing or not, for watchers and messages.
    var path: String { home.registryPath.appending(group.identifier).appending(Self.entryFile).string }

    /// Returns the current entry; nil if it is missing. Takes no lock, since the file is replaced as a whole.
    func read() throws(AppGroupError) -> RegistryEntry? {
        let folder: Directory
        do throws(FileError) {
            let registry = try Directory.open(home.registryPath)
            if isStrict { try registry.requirePrivateOrShared() }
            folder = try registry.directory(group.identifier)
            if isStrict {
                try folder.requireTrusted()
                try requireOwn(folder)
            }
        } catch {
            if error.code == .notFound { return nil }
            throw AppGroupError(error, "read the registry", registryOf: group)
        }
        return try read(in: folder)
    }

    /// In a shared home every member may create a registry for a group without one. Another member's registry is not
    /// valid for a private container of this user.
    private func requireOwn(_ folder: Directory) throws(FileError) {
        let owner = try folder.attributes(".").uid
        if owner == geteuid() || owner == 0 { return }
        guard hasPrivateContainer else { return }
        throw FileError(
            .wrongOwner, operation: "trust", path: folder.path.string,
            advice:
                "The user \(owner) created it, but the group's container is not shared; ask that user to remove it: "
                + "ls -ld \(folder.path.string.shellQuoted)")
    }

    private var hasPrivateContainer: Bool {
        guard let containers = try? Directory.open(home.containersPath) else { return false }
        if let named = try? containers.attributes(group.identifier), named.uid == geteuid(),
            named.sharing == .ownerOnly
        {
            return true
        }
        return ContainerSearch(group: group, home: home).hasPrivateOne(in: containers)
    }

    fileprivate func read(in folder: Directory) throws(AppGroupError) -> RegistryEntry? {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try folder.read(Self.entryFile, limit: RegistryDocument.maximumSize)
        } catch {
            switch error.code {
            case .notFound: return nil
            case .tooLarge, .notRegularFile, .unsafePath:
                throw .damagedRegistry(
                    error.path, of: group, because: "it is not a file of the registry: \(error.code.rawValue)")
            default: throw AppGroupError(error, "read the registry", registryOf: group)
            }
        }
        do throws(RegistryDocument.Fault) {
            return try RegistryDocument.entry(from: bytes, of: group)
        } catch {
            throw .damagedRegistry(folder.display(Self.entryFile), of: group, because: error.reason)
        }
    }

    /// Takes the group's lock, and creates missing parts of the registry.
    ///
    /// - Parameters:
    ///   - containers: The directory whose users may register containers.
    ///   - sharing: The users of the group's existing or future container.
    ///   - isDemanded: Whether to reject a registry with another sharing.
    func lock(
        beside containers: Directory, for sharing: Sharing, isDemanded: Bool = true
    ) throws(AppGroupError) -> HeldRegistry {
        do throws(FileError) {
            let registry = try Directory.createParent(home.registryPath, sharing: containers.sharing)
            try registry.requirePrivateOrShared()
            let folder = try registry.openOrMakeFolder(group.identifier, sharing: sharing)
            try folder.requireTrusted()
            // Members who could not read it would consider the container missing.
            if isDemanded && sharing != .ownerOnly { try folder.requireSharing(sharing) }
            let lock = LockFile(directory: folder, name: Self.lockFile, mode: folder.fileMode)
            return HeldRegistry(
                place: self, folder: folder, lock: try lock.acquire(.whole, .exclusive, timeout: Self.timeout))
        } catch {
            throw AppGroupError(error, "lock the registry", registryOf: group)
        }
    }
}

/// A group's registry under its lock.
struct HeldRegistry: ~Copyable {
    fileprivate let place: RegistryPlace
    fileprivate let folder: Directory
    fileprivate let lock: HeldLock

    func read() throws(AppGroupError) -> RegistryEntry? { try place.read(in: folder) }

    /// The users who may read and change the entry.
    var sharing: Sharing { (try? folder.sharing) ?? .ownerOnly }

    /// Releases the lock.
    consuming func unlock() {}

    /// Replaces the entry, durably.
    func write(_ entry: RegistryEntry) throws(AppGroupError) {
        let path = folder.display(RegistryPlace.entryFile)
        let bytes: [UInt8]
        do throws(RegistryDocument.Fault) { bytes = try RegistryDocument.bytes(of: entry) } catch {
            throw .damagedRegistry(path, of: entry.group, because: error.reason)
        }
        do throws(FileError) {
            guard lock.isStillNamed() else {
                throw FileError(.lockFileReplaced, operation: "write", path: path)
            }
            try folder.replace(
                RegistryPlace.entryFile, with: bytes, mode: sharing.fileMode, group: sharing.groupID,
                durability: .durable)
        } catch {
            throw AppGroupError(error, "write the registry", registryOf: entry.group)
        }
    }
}

extension Directory {
    fileprivate func openOrMakeFolder(_ name: String, sharing: Sharing) throws(FileError) -> Directory {
        do throws(FileError) { return try directory(name) } catch {
            guard error.code == .notFound else { throw error }
            if let members = sharing.groupID { try requireShareable(with: members) }
            return try makeDirectory(name, sharing: sharing)
        }
    }
}

/// The property list of a registry's entry. It rejects unknown content, which would be lost when the file is written
/// again.
enum RegistryDocument {
    static let maximumSize = 1 << 20
    private static let version: Int64 = 1

    /// The fault of an invalid file, as part of a sentence about it.
    struct Fault: Error {
        let reason: String
    }

    static func bytes(of entry: RegistryEntry) throws(Fault) -> [UInt8] {
        let bytes: [UInt8]
        do throws(StructureFault) {
            bytes = try PropertyList.bytes(of: .dictionary(fields(of: entry)), as: .xml)
        } catch {
            throw Fault(reason: "it cannot be written as a property list: \(error)")
        }
        // An unreadable file must not replace a readable one.
        guard bytes.count <= maximumSize else {
            throw Fault(reason: "it would have \(bytes.count) bytes, more than \(maximumSize)")
        }
        return bytes
    }

    private static func fields(of entry: RegistryEntry) -> [String: PropertyListValue] {
        var fields: [String: PropertyListValue] = [
            "version": .integer(version), "group": .string(entry.group.identifier),
            "style": .string(entry.style.rawValue), "generation": .integer(entry.generation),
            "members": .array(entry.members.map(Self.value)),
        ]
        fields["directory"] = entry.directory.map { .string($0) }
        fields["quota"] = entry.quota.map { .integer($0) }
        fields["recordLimit"] = entry.recordLimit.map { .integer($0) }
        fields["leaving"] = entry.departure.map {
            .dictionary(["directory": .string($0.directory), "trash": .string($0.trashName)])
        }
        return fields
    }

    private static func value(_ member: GroupMember) -> PropertyListValue {
        var fields: [String: PropertyListValue] = [
            "applicationIdentifier": .string(member.applicationIdentifier),
            "executable": .string(member.executablePath), "registered": .date(member.registered),
        ]
        if member.givenPath != member.executablePath { fields["given"] = .string(member.givenPath) }
        return .dictionary(fields)
    }
}

extension RegistryDocument {
    static func entry(from bytes: [UInt8], of group: AppGroup) throws(Fault) -> RegistryEntry {
        let entry = try entry(from: bytes)
        guard entry.group == group else { throw Fault(reason: "it belongs to another group, \(entry.group)") }
        return entry
    }

    static func entry(from bytes: [UInt8]) throws(Fault) -> RegistryEntry {
        var fields = RegistryFields(try parse(bytes), "it")
        let version = try fields.integer("version")
        guard version == Self.version else {
            throw Fault(reason: "its version is \(version), and this program reads version \(Self.version)")
        }
        let entry = RegistryEntry(
            group: try group(fields.text("group")), style: try style(fields.text("style")),
            directory: try fields.optionalText("directory"), generation: try fields.integer("generation"),
            members: try members(fields.list("members")), quota: try fields.optionalInteger("quota"),
            recordLimit: try fields.optionalInteger("recordLimit"),
            departure: try departure(fields.optionalFields("leaving")))
        try fields.requireNothingElse()
        try check(entry)
        return entry
    }

    private static func parse(_ bytes: [UInt8]) throws(Fault) -> PropertyListValue {
        let outcome = bytes.withUnsafeBytes { bytes -> Result<PropertyListValue, StructureFault> in
            do throws(StructureFault) {
                return .success(try PropertyList.parse(bytes).value)
            } catch {
                return .failure(error)
            }
        }
        switch outcome {
        case .success(let value): return value
        case .failure(let fault): throw Fault(reason: "it is not a readable property list: \(fault)")
        }
    }

    private static func group(_ text: String) throws(Fault) -> AppGroup {
        do throws(AppGroupError) { return try AppGroup(text) } catch {
            throw Fault(reason: "its group is not an app group: \(error.reason.clause)")
        }
    }

    private static func style(_ text: String) throws(Fault) -> ContainerStyle {
        guard let style = ContainerStyle(rawValue: text) else {
            throw Fault(reason: "its style is neither \"named\" nor \"opaque\"")
        }
        return style
    }

    private static func members(_ values: [PropertyListValue]) throws(Fault) -> [GroupMember] {
        guard values.count <= RegistryEntry.maximumMembers else {
            throw Fault(reason: "it has \(values.count) members, more than \(RegistryEntry.maximumMembers)")
        }
        var members: [GroupMember] = []
        for (offset, value) in values.enumerated() { members.append(try member(value, offset + 1)) }
        guard Set(members.map(\.applicationIdentifier)).count == members.count else {
            throw Fault(reason: "two of its members have the same application identifier")
        }
        return members
    }

    private static func member(_ value: PropertyListValue, _ number: Int) throws(Fault) -> GroupMember {
        var fields = RegistryFields(value, "its member \(number)")
        let (identifier, path) = (try fields.text("applicationIdentifier"), try fields.text("executable"))
        let (given, registered) = (try fields.optionalText("given"), try fields.date("registered"))
        try fields.requireNothingElse()
        do throws(AppGroupError) {
            return try GroupMember(
                applicationIdentifier: identifier, executablePath: path, givenPath: given ?? path,
                registered: registered)
        } catch {
            throw Fault(reason: "its member \(number) is invalid: \(error.reason.clause)")
        }
    }

    private static func departure(_ fields: RegistryFields?) throws(Fault) -> ContainerDeparture? {
        guard var fields else { return nil }
        let departure = ContainerDeparture(
            directory: try fields.text("directory"), trashName: try fields.text("trash"))
        try fields.requireNothingElse()
        return departure
    }

    /// Names from the file are parts of paths: only names that this library creates are accepted.
    private static func check(_ entry: RegistryEntry) throws(Fault) {
        guard (0...RegistryEntry.maximumGeneration).contains(entry.generation) else {
            throw Fault(reason: "its generation is not between 0 and \(RegistryEntry.maximumGeneration)")
        }
        if let quota = entry.quota, quota < 0 { throw Fault(reason: "its quota is negative") }
        if let limit = entry.recordLimit, !RegistryEntry.recordLimits.contains(limit) {
            throw Fault(reason: "its record limit is not \(RegistryEntry.recordLimitRange)")
        }
        if let directory = entry.directory, !isName(directory, entry.style, entry.group) {
            throw Fault(reason: "its directory does not have the style \"\(entry.style.rawValue)\"")
        }
        guard let departure = entry.departure else { return }
        guard isName(departure.directory, .named, entry.group) || isName(departure.directory, .opaque, entry.group)
        else {
            throw Fault(reason: "the directory that is being removed does not belong to the group")
        }
        guard TrashName(departure.trashName)?.group == entry.group else {
            throw Fault(reason: "the place in the trash does not belong to the group")
        }
    }

    private static func isName(_ name: String, _ style: ContainerStyle, _ group: AppGroup) -> Bool {
        switch style {
        case .named: name == group.identifier
        case .opaque: OpaqueName.isWellFormed(name)
        }
    }
}
