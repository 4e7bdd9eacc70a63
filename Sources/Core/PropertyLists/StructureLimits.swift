/// How much structure a payload may have before a decoder sees it.
///
/// A decoder recurses with its input, allocates for each value and trusts counts: a key holder could otherwise make it
/// crash, hang or bloat.
package struct StructureLimits: Sendable, Hashable {
    /// The levels of containers.
    package let depth: Int
    /// The values, keys included; one that is referenced twice counts twice.
    package let values: Int
    /// The bytes of text and data; what is referenced twice counts twice.
    package let size: Int

    /// What Foundation's JSON decoder goes down to; deeper than that no limit of a user's reaches.
    package static let deepest = 512

    /// The bytes that the key of a member may have as UTF-8: keys are hashed and compared, which takes long for long ones.
    package static let longestKey = 4096

    /// For files from outside: entitlements, profiles, projects, preferences. 64 levels, 100,000 values, 16 MiB.
    package static let propertyList = StructureLimits(depth: 64, values: 100_000, size: 16 << 20)

    /// The bytes of a scalar as UTF-8.
    package static func size(of scalar: UInt32) -> Int {
        scalar < 0x80 ? 1 : scalar < 0x800 ? 2 : scalar < 0x10000 ? 3 : 4
    }

    /// Limits are clamped: one such as `Int.max` means "any", and sums of two of them must not overflow.
    package init(depth: Int, values: Int, size: Int) {
        self.depth = min(max(0, depth), Self.deepest)
        self.values = min(max(1, values), Int(Int32.max))
        self.size = min(max(0, size), 1 << 40)
    }
}
