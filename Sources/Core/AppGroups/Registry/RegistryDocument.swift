internal import PropertyLists
internal import SharedFiles

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
        guard entry.group == group else { throw Fault(reason: "it is of \(entry.group), another group") }
        return entry
    }

    static func entry(from bytes: [UInt8]) throws(Fault) -> RegistryEntry {
        var fields = RegistryFields(try parse(bytes), "it")
        let version = try fields.integer("version")
        guard version == Self.version else {
            throw Fault(reason: "its version is \(version), and \(Self.version) is known")
        }
        let entry = RegistryEntry(
            group: try group(fields.text("group")), style: try style(fields.text("style")),
            directory: try fields.optionalText("directory"), generation: try fields.integer("generation"),
            members: try members(fields.list("members")), quota: try fields.optionalInteger("quota"),
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
        case .failure(let fault): throw Fault(reason: "it is no property list that can be read: \(fault)")
        }
    }

    private static func group(_ text: String) throws(Fault) -> AppGroup {
        do throws(AppGroupError) { return try AppGroup(text) } catch {
            throw Fault(reason: "its group is no app group: \(error.reason.clause)")
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
            throw Fault(reason: "two of its members have one application identifier")
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
            throw Fault(reason: "its member \(number) is none: \(error.reason.clause)")
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
            throw Fault(reason: "its generation is none from 0 to \(RegistryEntry.maximumGeneration)")
        }
        if let quota = entry.quota, quota < 0 { throw Fault(reason: "its quota is below zero") }
        if let directory = entry.directory, !isName(directory, entry.style, entry.group) {
            throw Fault(reason: "its directory is none of the style \"\(entry.style.rawValue)\"")
        }
        guard let departure = entry.departure else { return }
        guard isName(departure.directory, .named, entry.group) || isName(departure.directory, .opaque, entry.group)
        else {
            throw Fault(reason: "the directory that leaves is none of the group's")
        }
        guard TrashName(departure.trashName)?.group == entry.group else {
            throw Fault(reason: "the place in the trash is none of the group's")
        }
    }

    private static func isName(_ name: String, _ style: ContainerStyle, _ group: AppGroup) -> Bool {
        switch style {
        case .named: name == group.identifier
        case .opaque: OpaqueName.isWellFormed(name)
        }
    }
}
