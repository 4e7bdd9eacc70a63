import TestSupport
import Testing

@testable import KeyVault

/// Tests of items that remain on their machine, in a vault that another machine rekeys.
@Suite struct DeviceItemRekeyTests {
    private let sandbox: RekeySandbox
    private let (here, there): (String, String)

    init() throws {
        sandbox = try RekeySandbox()
        here = try sandbox.fixture.machine("here", digit: "a")
        there = try sandbox.fixture.machine("there", digit: "b")
    }

    private func onMachine<Result>(_ id: String, _ body: () throws -> Result) rethrows -> Result {
        try ItemValues.$machineIDPath.withValue(id, operation: body)
    }

    private static let accounts: [(name: String, accessibility: Accessibility, value: [UInt8])] = [
        ("small service", .afterFirstUnlockThisDeviceOnly, RekeySandbox.small),
        ("large service", .afterFirstUnlockThisDeviceOnly, RekeySandbox.large),
        ("small person", .whenUnlockedThisDeviceOnly, RekeySandbox.small),
        ("large person", .whenUnlockedThisDeviceOnly, RekeySandbox.large),
    ]

    /// A rekey wraps item keys again and needs no value, so it keeps items that its machine cannot read.
    ///
    ///     machine A                      machine B
    ///     adds its items
    ///                                    cannot read them
    ///                                    rekeys, also removes a person
    ///                                    cannot read them
    ///     reads them, changes one
    @Test(arguments: [false, true]) func theItemsOfAMachineSurviveTheRekeyOfAnother(removesPerson: Bool) throws {
        let running = try sandbox.person()
        try onMachine(here) {
            for account in Self.accounts {
                try running.add("device", account.name, account.accessibility, account.value)
            }
        }
        try onMachine(there) {
            let other = try sandbox.person()
            try expectWrongDevice(other)
            try other.rekey(
                removesPerson ? RekeyOptions(removing: [sandbox.bobSlot]) : RekeyOptions(renewsPersons: true))
            try expectWrongDevice(other)
            try expectWrongDevice(try sandbox.person())
        }
        try onMachine(here) {
            for vault in [running, try sandbox.person()] {
                for account in Self.accounts { #expect(try vault.value("device", account.name) == account.value) }
                #expect(vault.period == 2)
            }
            try running.update("device", "large person", value: [4])
            #expect(try running.value("device", "large person") == [4])
        }
        try onMachine(there) { try expectWrongDevice(try sandbox.person()) }
    }

    private func expectWrongDevice(_ vault: Vault) throws {
        for account in Self.accounts {
            #expect(code { () throws(VaultError) in _ = try vault.value("device", account.name) } == .wrongDevice)
        }
    }
}
