/// What a target is built for; simulators are not signed, so they are left out.
public enum BuildPlatform: String, Sendable, Hashable, CaseIterable {
    case iOS
    /// An iOS app on a Mac, built with the macOS SDK.
    case macCatalyst = "Mac Catalyst"
    case macOS
    case watchOS
    case tvOS
    case visionOS

    /// The SDK that conditions such as `[sdk=iphoneos*]` are compared with.
    var sdk: String {
        switch self {
        case .iOS: "iphoneos"
        case .macCatalyst, .macOS: "macosx"
        case .watchOS: "watchos"
        case .tvOS: "appletvos"
        case .visionOS: "xros"
        }
    }

    /// Nil for simulators and what nobody knows.
    init?(sdk: some StringProtocol) {
        let name = sdk.lowercased()
        guard !name.contains("simulator"), let platform = Self.bySDK.first(where: { name.hasPrefix($0.sdk) }) else {
            return nil
        }
        self = platform
    }

    private static let bySDK: [BuildPlatform] = [.iOS, .macOS, .watchOS, .tvOS, .visionOS]

    /// Whether group containers and signing follow the rules of macOS.
    var isMac: Bool { self == .macOS || self == .macCatalyst }
}
