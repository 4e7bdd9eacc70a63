internal import AppGroups
internal import PropertyLists
internal import SharedFiles

/// The identity of a program from an `Info.plist`.
struct InfoFile: Sendable {
    /// The value of `CFBundleIdentifier` as written.
    let bundleIdentifier: String?
    let kind: TargetKind
    let platform: BuildPlatform?

    /// Reads a file, or returns `nil` if it is not a readable property list.
    static func read(_ path: String) -> InfoFile? {
        guard let bytes = try? ProjectFiles.read(path), let list = try? PropertyList.parse(bytes).value else {
            return nil
        }
        return InfoFile(list)
    }

    init(_ list: PropertyListValue) {
        bundleIdentifier = list["CFBundleIdentifier"]?.string
        kind = Self.kind(list)
        platform = Self.platform(list)
    }

    private static func kind(_ list: PropertyListValue) -> TargetKind {
        if list["NSExtension"]?.dictionary != nil || list["EXAppExtensionAttributes"]?.dictionary != nil {
            return .appExtension
        }
        if list["WKApplication"]?.bool == true || list["WKWatchKitApp"]?.bool == true { return .watchApp }
        if list["NSAppClip"]?.dictionary != nil { return .appClip }
        switch list["CFBundlePackageType"]?.string {
        case "APPL": return .app
        case "XPC!": return .appExtension
        case "SYSX": return .systemExtension
        case "BNDL", "FMWK": return .other
        default:
            return list["UILaunchStoryboardName"] != nil || list["UIApplicationSceneManifest"] != nil ? .app : .unknown
        }
    }

    private static func platform(_ list: PropertyListValue) -> BuildPlatform? {
        if list["WKApplication"] != nil || list["WKWatchKitApp"] != nil { return .watchOS }
        if list["LSRequiresIPhoneOS"] != nil || list["UIDeviceFamily"] != nil { return .iOS }
        if list["LSMinimumSystemVersion"] != nil || list["NSPrincipalClass"]?.string == "NSApplication" {
            return .macOS
        }
        return nil
    }
}

/// A cache of files, because several configurations name the same one.
final class InfoFileCache {
    private var files: [String: InfoFile?] = [:]

    /// Reads a file, or returns `nil` if it is not a readable property list.
    func read(_ path: String) -> InfoFile? {
        if let known = files[path] { return known }
        let file = ProjectFiles.isPossible(path) ? InfoFile.read(path) : nil
        files[path] = .some(file)
        return file
    }
}
