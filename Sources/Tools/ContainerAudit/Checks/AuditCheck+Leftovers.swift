// Checks of links, special files and leftovers.
extension AuditCheck {
    static let linkLeaves = AuditCheck(
        id: "link.leaves-container", severity: .high, title: "A link points out of the container",
        meaning: "A program that follows it reads or writes outside the container. The library never follows links.",
        remedy: "Remove it: rm {file}",
        references: [Reference.leakage, Reference.validation])

    static let linkPresent = AuditCheck(
        id: "link.present", severity: .low, title: "A link in the container",
        meaning:
            "It points to another place in the container; medium in a record's place. The library never follows "
            + "links.",
        remedy: "Remove it, or put a real file or directory in its place: rm {file}",
        references: [Reference.validation])

    static let specialFile = AuditCheck(
        id: "special.file", severity: .medium, title: "A FIFO, socket or device",
        meaning:
            "Opening it may block a program; high for a device, which leads out of the container. It was not opened.",
        remedy: "Find out which program created it, and remove it: rm {file}",
        references: [Reference.validation])

    static let leftoverTemporary = AuditCheck(
        id: "leftover.temporary", severity: .low, title: "A leftover temporary file",
        meaning:
            "A writer crashed before it renamed the file to the record's name. The next write of that record removes "
            + "it.",
        remedy: "Remove it: rm {file}",
        references: [Reference.leakage])

    static let quarantinePresent = AuditCheck(
        id: "quarantine.present", severity: .info, title: "A quarantined copy",
        meaning: "A blob was refused when its record was written again, and this copy was kept.",
        remedy: "Find out what was wrong with it (sealctl inspect {file}), then remove it: rm {file}",
        references: [Reference.tampering])

    static let leftoverBackup = AuditCheck(
        id: "leftover.backup", severity: .low, title: "A backup of a file",
        meaning:
            "By its name an editor or a person left it. It still has contents that were changed or removed in the "
            + "file itself.",
        remedy: "Remove it: rm {file}",
        references: [Reference.leakage, Reference.testStorage])

    static let logPresent = AuditCheck(
        id: "log.present", severity: .info, title: "A log in the container",
        meaning: "Logs contain data that programs handle, and every member of the group and every backup gets them.",
        remedy: "Write logs to the system's place for logs, and remove this one: rm {file}",
        references: [Reference.leakage, Reference.testLogs])

    static let coreDump = AuditCheck(
        id: "leftover.core-dump", severity: .high, title: "The memory of a program that crashed",
        meaning:
            "A core file contains the program's memory, keys and plaintext included. The library keeps its own keys "
            + "and plaintext out of it. Other secrets are in it.",
        remedy: "Remove it, and start the program without cores (ulimit -c 0): rm {file}",
        references: [Reference.leakage, Reference.testMemory])

    static let staleLock = AuditCheck(
        id: "lock.stale", severity: .low, title: "A lock file of a process that has ended",
        meaning: "It names a process that does not run here. Programs that rely on it may wait or refuse for ever.",
        remedy: "Check that no process uses it (fuser {file}), then remove it: rm {file}",
        references: [Reference.validation])

    static let lockMisplaced = AuditCheck(
        id: "lock.misplaced", severity: .medium, title: "Another file is in the place of a lock file",
        meaning:
            "Programs of the group take their locks on an empty file of that name. If it is a directory, none of "
            + "them can write.",
        remedy: "See what it is (ls -ld {file}), and move it away: the next writer creates the lock file again.",
        references: [Reference.validation, Reference.interaction])

    static let fileUnexamined = AuditCheck(
        id: "file.unexamined", severity: .low, title: "Something was not examined",
        meaning: "It could not be read, or is beyond a limit of the audit. Its contents are not known.",
        remedy: "See what it is: ls -ld {file}",
        references: [Reference.storage])

    static let order = [
        linkLeaves, linkPresent, specialFile, lockMisplaced, staleLock, leftoverTemporary, leftoverBackup, coreDump,
        logPresent, quarantinePresent, fileUnexamined,
    ]
}
