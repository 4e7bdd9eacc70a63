internal import Glibc
internal import PropertyLists
internal import XcodeEntitlements

/// A folder with a small Xcode project, one file of which is hostile. It is checked and removed.
struct HostileFolder {
    private let path: String

    /// Returns the rules of the findings in the folder, separated by spaces, or `nil` without findings.
    ///
    /// - Parameter file: The file that gets the bytes, or two files with the same bytes.
    static func findings(_ bytes: [UInt8], in files: [String]) -> String? {
        guard let folder = HostileFolder() else { return nil }
        defer { folder.remove() }
        for (name, text) in Self.whole where !files.contains(name) { folder.write(name, Array(text.utf8)) }
        if files == [info] { folder.write(project, Array(HostileProjects.project(app: namedByInfo).utf8)) }
        for name in files { folder.write(name, bytes) }
        do throws(ProvisioningError) {
            guard let date = PropertyListDate(secondsSince2001: 0) else { return nil }
            let report = try ProjectCheck().run([folder.path], at: date)
            let rules = Set(report.findings.map(\.rule.id)).sorted()
            return rules.isEmpty ? nil : rules.joined(separator: " ")
        } catch { return error.code.rawValue }
    }

    static let project = "App.xcodeproj/project.pbxproj"
    static let settings = ["Base.xcconfig", "Rest.xcconfig"]
    static let info = "Info.plist"
    private static let namedByInfo = "PRODUCT_BUNDLE_IDENTIFIER = \"\"; INFOPLIST_FILE = Info.plist;"

    /// The valid files.
    private static let whole = [
        (project, HostileProjects.project()), ("Base.xcconfig", "A = 1\n"), ("Rest.xcconfig", "B = 1\n"),
        (info, "<plist><dict><key>CFBundleIdentifier</key><string>com.example.app</string></dict></plist>"),
        ("App.entitlements", String(decoding: HostileEntitlements.whole, as: UTF8.self)),
    ]

    private init?() {
        var template = Array("/tmp/hostile-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { return nil }
        path = String(cString: made)
        mkdir(path + "/App.xcodeproj", 0o700)
    }

    private func write(_ name: String, _ bytes: [UInt8]) {
        guard let file = fopen(path + "/" + name, "we") else { return }
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }

    private func remove() {
        for (name, _) in Self.whole { unlink(path + "/" + name) }
        rmdir(path + "/App.xcodeproj")
        rmdir(path)
    }
}
