/// What a provisioning profile is for, as its contents tell.
public enum ProfileKind: String, Sendable, Hashable, CaseIterable {
    /// Runs on the listed devices under a debugger.
    case development
    /// Runs on the listed devices without one.
    case adHoc
    /// For upload to the App Store; runs on no device as it is.
    case appStore
    /// Runs on every device of an organisation (in-house distribution).
    case enterprise
    /// Runs on every Mac, outside the Mac App Store.
    case developerID

    /// The kind in words, for people.
    public var title: String {
        switch self {
        case .development: "development"
        case .adHoc: "ad hoc"
        case .appStore: "App Store"
        case .enterprise: "enterprise"
        case .developerID: "Developer ID"
        }
    }
}
