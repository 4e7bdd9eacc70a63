/// What a target makes, as far as it matters to what it shares.
public enum TargetKind: String, Sendable, Hashable, CaseIterable {
    /// An app.
    case app
    /// A part of an app that the system starts by itself: a widget, a share sheet, a keyboard.
    case appExtension = "extension"
    /// An app for a watch.
    case watchApp = "watch app"
    /// The part of an older watch app that holds its code.
    case watchExtension = "watch extension"
    /// An app clip.
    case appClip = "app clip"
    /// A driver or network extension of macOS.
    case systemExtension = "system extension"
    /// A service inside an app.
    case xpcService = "XPC service"
    /// A program without a user interface.
    case tool
    /// Entitlements of which nothing tells whose they are.
    case unknown
    /// A library, test or resource: it has no entitlements of its own.
    case other

    /// - Parameter productType: As Xcode writes it, such as `com.apple.product-type.app-extension`.
    init(productType: String) {
        let name = productType.hasPrefix("com.apple.product-type.") ? productType.dropFirst(23) : "other"
        switch name {
        case "application", "application.messages": self = .app
        case "application.on-demand-install-capable": self = .appClip
        case "application.watchapp", "application.watchapp2", "application.watchapp2-container": self = .watchApp
        case "watchkit-extension", "watchkit2-extension": self = .watchExtension
        // It has no code, and so nothing to share.
        case "app-extension.messages-sticker-pack": self = .other
        case "system-extension", "driver-extension": self = .systemExtension
        case "xpc-service": self = .xpcService
        case "tool": self = .tool
        default: self = Self.isExtension(name) ? .appExtension : .other
        }
    }

    private static func isExtension(_ name: Substring) -> Bool {
        name.hasPrefix("app-extension") || ["extensionkit-extension", "tv-app-extension"].contains(name)
    }

    /// Whether it is signed with entitlements.
    var isSigned: Bool { self != .other }

    /// Whether people start it, so that what it holds in it belongs to it.
    var isApp: Bool { [.app, .watchApp, .appClip].contains(self) }

    /// Whether an app that depends on it has it inside.
    var isMadeToBeHeld: Bool { isSigned && ![.app, .tool, .appClip].contains(self) }

    /// Whether the app that holds it expects to share files with it.
    var sharesWithItsApp: Bool { [.appExtension, .watchExtension, .systemExtension].contains(self) }
}
