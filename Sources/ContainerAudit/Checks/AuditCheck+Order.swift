// Links, special files and what was left lying about.
extension AuditCheck {
    static let linkLeaves = AuditCheck(
        id: "link.leaves-container", severity: .high, title: "A link leads out of the container",
        meaning: "A program that follows it reads or writes somewhere else. The library never follows links.",
        remedy: "Remove it: rm {file}")

    static let linkPresent = AuditCheck(
        id: "link.present", severity: .low, title: "A link in the container",
        meaning:
            "It leads to another place of the container; medium in a record's place. The library never follows links.",
        remedy: "Remove it, or put a real file or directory in its place: rm {file}")

    static let specialFile = AuditCheck(
        id: "special.file", severity: .medium, title: "A FIFO, socket or device",
        meaning: "Opening it may block a program or reach a device. It was not opened.",
        remedy: "Find out which program made it, and remove it: rm {file}")

    static let leftoverTemporary = AuditCheck(
        id: "leftover.temporary", severity: .low, title: "A left-over temporary file",
        meaning: "A writer crashed before it gave the new value its name. The next write of that record removes it.",
        remedy: "Remove it: rm {file}")

    static let quarantinePresent = AuditCheck(
        id: "quarantine.present", severity: .info, title: "A quarantined copy",
        meaning: "A blob was refused when its record was written anew, and this copy was kept.",
        remedy: "Find out what was wrong with it (sealctl inspect {file}), then remove it: rm {file}")

    static let fileUnexamined = AuditCheck(
        id: "file.unexamined", severity: .low, title: "Something was not examined",
        meaning: "It could not be read, or lies beyond a limit of the audit: nothing is known of it.",
        remedy: "See what it is: ls -ld {file}")

    static let order = [
        linkLeaves, linkPresent, specialFile, leftoverTemporary, quarantinePresent, fileUnexamined,
    ]
}
