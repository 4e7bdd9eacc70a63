internal import SharedFiles

/// An `.xcconfig` file with all included files.
struct SettingsFile: Sendable {
    /// The assignments in order of precedence: a later one wins.
    private(set) var assignments: [SettingAssignment] = []
    /// The missing files of `#include?` directives: private settings that are not checked in.
    private(set) var absent: [String] = []
    /// The required files that are missing or refused.
    private(set) var missing: [String] = []

    private static let deepest = 16
    private static let mostFiles = 500
    /// The limit on assignments of all files together. A file that is included twice counts twice.
    private static let mostAssignments = 250_000
    private var filesRead = 0

    /// Reads a file. A file that cannot be read, or that includes too much, is listed as missing.
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

    /// - Parameter outer: The files that are being read. A file that includes itself is read once.
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

    /// Returns whether a dependency tool creates the file before the first build. Such files define search paths, not
    /// identifiers.
    private static func isGenerated(_ path: String) -> Bool {
        path.split(separator: "/").contains { ["Pods", "Carthage"].contains($0) }
    }

    private static func place(of name: String, in directory: String) -> String {
        let path = ProjectPath.join(directory, name)
        return path.hasSuffix(".xcconfig") ? path : path + ".xcconfig"
    }
}

/// A cache of settings files with their includes, because many configurations use the same ones.
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

/// A cache of the lines of settings files, because many files include the same ones.
final class SettingsLineCache {
    private var files: [String: [SettingsLine]?] = [:]

    /// Returns the lines with content, or `nil` if the file cannot be read.
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

/// A line of an `.xcconfig` file.
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

    /// Returns the assignment of a line. The `=` of a condition, as in `A[sdk=x] = y`, is skipped.
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
