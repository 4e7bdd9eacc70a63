/// A vault's partition for a set of programs: `<team identifier>.<name>`, or any app group.
///
/// Every app group is also an access group, as on Apple's platforms. The grammar is the app group's, so an access
/// group names a file as safely as an app group names a directory.
public struct AccessGroup: Hashable, Sendable, CustomStringConvertible {
    /// The whole identifier, for example `ABCDE12345.com.example.app`.
    public let identifier: String

    /// The whole identifier.
    public var description: String { identifier }

    /// Checks an access group's identifier.
    ///
    /// - Throws: ``AppGroupError`` with the codes of ``AppGroup/init(_:)``. A wildcard (`ABCDE12345.*`), which a
    ///   provisioning profile may grant, names no single group and is refused as `invalidCharacter`.
    public init(_ identifier: String) throws(AppGroupError) {
        self.init(try AppGroup(identifier, as: .accessGroup))
    }

    /// The access group that an app group is.
    public init(_ appGroup: AppGroup) {
        identifier = appGroup.identifier
    }
}
