internal import Glibc
internal import Synchronization

/// A requirement of entitlements: a program without any is refused instead of opening every group.
///
/// The program's code, a file of the machine and a variable can each state it; none of them withdraws what another one
/// states.
package struct EntitlementRequirement: Sendable, Hashable {
    /// Where the requirement is stated, as a part of a sentence.
    package let source: String

    /// The requirement of ``EntitlementPolicy/required``.
    static let ofProgram = EntitlementRequirement(source: "its code")

    private static let isExempt = Atomic<Bool>(false)

    /// Exempts this process from the machine's and the environment's requirement, for a tool that manages groups of
    /// others: a person states each group. Entitlements that the tool has still count.
    package static func exemptThisProcess() { isExempt.store(true, ordering: .relaxed) }

    /// Returns the requirement for this process; nil if it may open every group without entitlements.
    ///
    /// - Throws: as ``stated()``.
    static func ofThisProcess() throws(AppGroupError) -> EntitlementRequirement? {
        isExempt.load(ordering: .relaxed) ? nil : try stated()
    }

    /// Returns the requirement that the machine or the environment states.
    ///
    /// - Throws: ``AppGroupError`` `unusableEntitlements` for a value of the variable that is neither yes nor no: its
    ///   author may have meant the stricter one.
    package static func stated() throws(AppGroupError) -> EntitlementRequirement? {
        if let path = MachineEntitlements.current.requirement { return EntitlementRequirement(source: path) }
        let name = EntitlementEnvironment.required
        let value = try EntitlementEnvironment.value(name) ?? ""
        switch value {
        case "1", "true", "yes", "on": return EntitlementRequirement(source: "\(name)=\(value)")
        case "", "0", "false", "no", "off": return nil
        default: throw .unclearRequirement(value)
        }
    }
}

/// The machine's setting: the file `/etc/sealedstate/entitlements-required` requires entitlements of every program. Its
/// contents have no meaning.
package struct MachineEntitlements: Sendable {
    private static let leaf = "entitlements-required"

    /// The directory of the file.
    private let directory: String

    package init(directory: String) { self.directory = directory }

    /// The system's setting; tests replace it for the length of a call.
    @TaskLocal package static var current = MachineEntitlements(directory: "/etc/sealedstate")

    /// The path of the file if it exists, or cannot be looked at; nil only if it does not exist. Any kind of file
    /// counts, a link to nothing as well.
    fileprivate var requirement: String? {
        var facts = stat()
        let path = "\(directory)/\(Self.leaf)"
        return lstat(path, &facts) == 0 || errno != ENOENT ? path : nil
    }
}
