internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import SealedState

/// `sealctl container accept`: deliberately continues with a former container.
struct ContainerAcceptCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "Give a container a certificate again.",
        discussion: """
            A container that replaced another one has a certificate, by which programs refuse the records of former \
            containers. The command writes it again if it is missing or damaged. With --former it accepts the records \
            of a former container that was put back by hand; those that were written again in the meantime stay \
            refused until they are written once more. Run the command as a user whose programs refuse the records: \
            only their watermarks know the certificate.

            Examples:
              sealctl container accept --group group.com.example.app
              sealctl container accept --former
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Flag(help: "The container is a former one that was put back on purpose.")
    var former = false
    @OptionGroup var confirmation: Confirmation
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let store = try keyOptions.openStore(of: group)
        try confirmation.require(
            "certify the container \(store.containerPath)",
            former ? ["Programs accept its records, which they refuse as those of a former container."] : [])
        let isCertified = try Failure.onStore { () throws(StoreError) in try store.certifyAgain(isFormer: former) }
        let fields: [(String, JSONText)] = [
            ("group", .string(group.identifier)), ("certified", .bool(isCertified)),
        ]
        try StandardStreams.print(
            output.json
                ? JSONText.object(fields).text
                : isCertified ? "certified" : "the container has the certificate that is known, or none is known")
    }
}

/// A warning that a container was replaced or put back without its certificate.
enum CertificateWarning {
    static func report(_ failure: Failure, _ hint: String, asJSON: Bool) {
        // Without a vault there are no records that could be replayed.
        if failure.code == "vaultAbsent" { return }
        Warning("notCertified", "the container has no new certificate: \(failure.message)", hint: hint)
            .report(asJSON: asJSON)
    }
}
