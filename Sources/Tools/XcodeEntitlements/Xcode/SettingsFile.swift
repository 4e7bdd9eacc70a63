internal import SharedFiles

/// An `.xcconfig` file with all that it includes.
struct SettingsFile: Sendable {
    /// In the order in which they count: a later one wins.
    private(set) var assignments: [SettingAssignment] = []
    /// Files that are included with `#include?` and are not there: somebody's own settings, not checked in.
    private(set) var absent: [String] = []
    /// Files that have to be there and are not, or are refused.
    private(set) var missing: [String] = []

    private static let deepest = 16
    private static let mostFiles = 500
    /// Of all the files together, one that is included twice counted twice.
    private static let mostAssignments = 250_000
    private var filesRead = 0

    /// Reads a file; one that cannot be read is listed as missing, and so is one that includes too much.
    static func read(_ path: String, _ cache: SettingsLineCache = SettingsLineCache()) -> SettingsFile {
        var file = SettingsFile()
        file.include(path, isOptional: false, within: [], cache)
        guard file.assignments.count <= mostAssignments else {
            var refused = SettingsFile()
            refused.missing = [path]
            return refused
        }
        return file
    }

    /// - Parameter outer: The files that are being read: one that includes itself is read once.
    private mutating func include(
        _ path: String, isOptional: Bool, within outer: [String], _ cache: SettingsLineCache
    ) {
        guard !outer.contains(path), outer.count < Self.deepest, filesRead < Self.mostFiles,
            assignments.count <= Self.mostAssignments
        else { return }
        filesRead += 1
        guard let lines = cache.lines(of: path) else {
            let shown = ProjectPath.shortened(path)
            if isOptional || Self.isGenerated(path) { absent.append(shown) } else { missing.append(shown) }
            return
        }
        let directory = ProjectPath.parent(of: path)
        for line in lines {
            switch line {
            case .assignment(let assignment): assignments.append(assignment)
            case .include(let name, let isOptional):
                include(Self.place(of: name, in: directory), isOptional: isOptional, within: outer + [path], cache)
            case .nothing: break
            }
        }
    }

    /// What a tool for dependencies makes before the first build; it defines search paths, not identifiers.
    private static func isGenerated(_ path: String) -> Bool {
        path.split(separator: "/").contains { ["Pods", "Carthage"].contains($0) }
    }

    private static func place(of name: String, in directory: String) -> String {
        let path = ProjectPath.join(directory, name)
        return path.hasSuffix(".xcconfig") ? path : path + ".xcconfig"
    }
}

/// Settings files that were read with what they include: many configurations use the same ones.
final class SettingsFileCache {
    private let lines = SettingsLineCache()
    private var files: [String: SettingsFile] = [:]

    func read(_ path: String?) -> SettingsFile? {
        guard let path else { return nil }
        if let known = files[path] { return known }
        let file = SettingsFile.read(path, lines)
        files[path] = file
        return file
    }
}

/// The lines of settings files that were read: many files include the same ones.
final class SettingsLineCache {
    private var files: [String: [SettingsLine]?] = [:]

    /// Those that say something; nil where the file cannot be read.
    func lines(of path: String) -> [SettingsLine]? {
        if let known = files[path] { return known }
        let lines = Self.read(path)
        files[path] = .some(lines)
        return lines
    }

    private static func read(_ path: String) -> [SettingsLine]? {
        guard let spelling = ProjectFiles.spelling(of: path), let bytes = try? ProjectFiles.read(spelling) else {
            return nil
        }
        return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).compactMap {
            let line = SettingsLine($0)
            if case .nothing = line { return nil }
            return line
        }
    }
}

/// One line of an `.xcconfig` file.
enum SettingsLine {
    case assignment(SettingAssignment)
    case include(String, isOptional: Bool)
    case nothing

    init(_ line: Substring) {
        let text = Self.withoutComment(line).trimmingSpace
        if text.hasPrefix("#") {
            self = Self.directive(text)
        } else if let assignment = Self.assignment(text) {
            self = .assignment(assignment)
        } else {
            self = .nothing
        }
    }

    private static func withoutComment(_ line: Substring) -> Substring {
        line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line
    }

    private static func directive(_ text: String) -> SettingsLine {
        let isOptional = text.hasPrefix("#include?")
        guard text.hasPrefix("#include") else { return .nothing }
        let rest = text.dropFirst(isOptional ? 9 : 8).trimmingSpace
        guard let close = ["\"": "\"", "<": ">"][rest.prefix(1)] else { return .nothing }
        let name = rest.dropFirst().prefix { String($0) != close }
        return name.isEmpty ? .nothing : .include(String(name), isOptional: isOptional)
    }

    /// The `=` of a condition, as in `A[sdk=x] = y`, is not the one that counts.
    private static func assignment(_ text: String) -> SettingAssignment? {
        var isInCondition = false
        let equals = text.firstIndex { character in
            if character == "[" { isInCondition = true }
            if character == "]" { isInCondition = false }
            return character == "=" && !isInCondition
        }
        guard let equals else { return nil }
        var value = text[text.index(after: equals)...].trimmingSpace
        while value.hasSuffix(";") { value.removeLast() }
        return SettingAssignment(key: text[..<equals], value: value)
    }
}
