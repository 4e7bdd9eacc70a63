internal import AppGroups

/// Where a record's file lies below a container, and which record's place a path is.
///
/// Record `accounts/ada` is `accounts/ada.sealed` below `ContainerLayout.records`. A suite of defaults, the reserved record
/// `_sealed/defaults/<suite>`, is `Library/Preferences/<suite>.sealed`, where people look for settings.
package enum RecordFile {
    private static let records = ContainerLayout.records + "/"
    private static let preferences = GroupContainer.StandardDirectory.preferences.relativePath + "/"
    private static let suites = DefaultsSuite.namePrefix

    /// The path of a record's file below the container.
    package static func path(of name: RecordName) -> String {
        let text = name.text
        let isSuite = text.utf8.starts(with: suites.utf8)
        // Put together by hand, in one allocation: every read does this.
        var path = isSuite ? preferences : records
        path.reserveCapacity(path.utf8.count + text.utf8.count + ContainerLayout.recordSuffix.utf8.count)
        if isSuite { path += text.dropFirst(suites.count) } else { path += text }
        path += ContainerLayout.recordSuffix
        return path
    }

    /// The record whose place a path is; nil for a path where no record's file can lie.
    package static func name(of path: String) -> RecordName? {
        guard path.hasSuffix(ContainerLayout.recordSuffix) else { return nil }
        let stem = path.dropLast(ContainerLayout.recordSuffix.count)
        if stem.hasPrefix(preferences) {
            return try? DefaultsSuite(String(stem.dropFirst(preferences.count))).recordName
        }
        guard stem.hasPrefix(records), let name = try? RecordName(stored: String(stem.dropFirst(records.count))) else {
            return nil
        }
        // A suite has its place elsewhere: what lies here under its name is read by nobody.
        return name.text.hasPrefix(suites) ? nil : name
    }

    /// The directories that have files of records in them: what lies anywhere else is no record's.
    package static let directories = [
        ContainerLayout.records, GroupContainer.StandardDirectory.preferences.relativePath,
    ]
}
