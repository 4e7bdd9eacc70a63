internal import AppGroups
internal import PropertyLists
internal import XcodeEntitlements

/// One input that must be refused, or that must at least cost little, and the public function that reads it.
struct HostileCase {
    enum EntryPoint: String {
        case group, accessGroup, propertyList, entitlements, profile
        /// A `project.pbxproj`.
        case project
        /// Inputs that may be read at low cost: a `project.pbxproj`, two `.xcconfig` files, an `Info.plist`.
        case load, settings, info
    }

    let name: String
    let entryPoint: EntryPoint
    /// The bytes, created only when the case runs.
    let bytes: () -> [UInt8]

    init(_ entryPoint: EntryPoint, _ name: String, _ bytes: @escaping () -> [UInt8]) {
        self.entryPoint = entryPoint
        self.name = name
        self.bytes = bytes
    }

    /// True if the input must be refused. Otherwise it must only cost little.
    var isToBeRefused: Bool { ![.load, .settings, .info].contains(entryPoint) }

    /// Every case, in a fixed order.
    static var all: [HostileCase] {
        HostileIdentifiers.cases + HostileBinaryLists.cases + HostileTextLists.cases + HostileEntitlements.cases
            + HostileProfiles.cases + HostileProjects.cases
    }

    /// The valid inputs from which the cases are made. They must be accepted, or the cases could be refused for another
    /// reason than their fault.
    static var controls: [HostileCase] {
        [
            HostileCase(.group, "control: group") { Array("group.com.example.app".utf8) },
            HostileCase(.accessGroup, "control: access group") { Array("ABCDE12345.com.example.app".utf8) },
            HostileCase(.propertyList, "control: binary") { BinaryListFile([[0xA1, 1], [0x10, 1]]).bytes },
            HostileCase(.propertyList, "control: xml") { Array("<plist version=\"1.0\"><true/></plist>".utf8) },
            HostileCase(.propertyList, "control: openstep") { Array("{a=b;}".utf8) },
            HostileCase(.entitlements, "control: entitlements") { HostileEntitlements.whole },
            HostileCase(.profile, "control: profile") { HostileProfiles.whole },
            HostileCase(.project, "control: project") { Array(HostileProjects.project().utf8) },
        ]
    }

    /// Returns the code of the refusal, or `nil` if the input is accepted.
    static func refusal(_ bytes: [UInt8], at entryPoint: EntryPoint) -> String? {
        switch entryPoint {
        case .group:
            do throws(AppGroupError) { _ = try AppGroup(String(decoding: bytes, as: UTF8.self)) } catch {
                return error.code.rawValue
            }
        case .accessGroup:
            do throws(AppGroupError) { _ = try AccessGroup(String(decoding: bytes, as: UTF8.self)) } catch {
                return error.code.rawValue
            }
        case .propertyList:
            do throws(StructureFault) { _ = try PropertyList.parse(bytes) } catch { return word(error) }
        case .entitlements:
            do throws(AppGroupError) { _ = try Entitlements(EntitlementsDocument(parsing: bytes)) } catch {
                return error.code.rawValue
            }
        case .profile:
            do throws(ProvisioningError) { _ = try ProvisioningProfile(parsing: bytes) } catch {
                return error.code.rawValue
            }
        case .project: return HostileFolder.findings(bytes, in: [HostileFolder.project])
        case .load: return HostileFolder.findings(bytes, in: [HostileFolder.project]) ?? "clean"
        case .settings: return HostileFolder.findings(bytes, in: HostileFolder.settings) ?? "clean"
        case .info: return HostileFolder.findings(bytes, in: [HostileFolder.info]) ?? "clean"
        }
        return nil
    }

    private static func word(_ fault: StructureFault) -> String {
        switch fault {
        case .tooDeep: "tooDeep"
        case .tooManyValues: "tooManyValues"
        case .tooMuchContent: "tooMuchContent"
        case .longKey: "longKey"
        case .cycle: "cycle"
        case .stackedMarks: "stackedMarks"
        case .unsupported: "unsupported"
        case .malformed: "malformed"
        }
    }
}

extension String {
    /// Returns the text repeated this number of times.
    func row(_ count: Int) -> String { String(repeating: self, count: count) }
}
