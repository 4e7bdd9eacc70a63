/// The kind of a target's product, as far as it affects sharing.
public enum TargetKind: String, Sendable, Hashable, CaseIterable {
    /// An app.
    case app
    /// A part of an app that the system starts separately: a widget, a share sheet, a keyboard.
    case appExtension = "extension"
    /// An app for a watch.
    case watchApp = "watch app"
    /// The part of an older watch app that contains its code.
    case watchExtension = "watch extension"
    /// An app clip.
    case appClip = "app clip"
    /// A driver or network extension of macOS.
    case systemExtension = "system extension"
    /// A service inside an app.
    case xpcService = "XPC service"
    /// A program without a user interface.
    case tool
    /// Entitlements without a known program.
    case unknown
    /// A library, test or resource without entitlements of its own.
    case other

    /// - Parameter productType: Xcode's product type, such as `com.apple.product-type.app-extension`.
    init(productType: String) {
        let name = productType.hasPrefix("com.apple.product-type.") ? productType.dropFirst(23) : "other"
        switch name {
        case "application", "application.messages": self = .app
        case "application.on-demand-install-capable": self = .appClip
        case "application.watchapp", "application.watchapp2", "application.watchapp2-container": self = .watchApp
        case "watchkit-extension", "watchkit2-extension": self = .watchExtension
        // A sticker pack has no code and so shares nothing.
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

    /// True if it is signed with entitlements.
    var isSigned: Bool { self != .other }

    /// True if users start it, so that the programs inside belong to it.
    var isApp: Bool { [.app, .watchApp, .appClip].contains(self) }

    /// True if an app that depends on it contains it.
    var isMadeToBeHeld: Bool { isSigned && ![.app, .tool, .appClip].contains(self) }

    /// True if its app expects to share files with it.
    var sharesWithItsApp: Bool { [.appExtension, .watchExtension, .systemExtension].contains(self) }
}
