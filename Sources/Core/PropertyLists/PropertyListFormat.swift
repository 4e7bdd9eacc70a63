/// How a property list is written down.
public enum PropertyListFormat: String, Sendable, Hashable, CaseIterable {
    /// `bplist00`: compact, and quick to read.
    case binary
    /// Apple's XML document type, version 1.0.
    case xml
    /// The braces and semicolons of OpenStep and of Xcode's projects; only read, and everything in it is text or bytes.
    case openStep
}
