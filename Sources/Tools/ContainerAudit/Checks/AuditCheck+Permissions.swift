// Checks of permissions.
extension AuditCheck {
    static let containerRefused = AuditCheck(
        id: "container.refused", severity: .high, title: "The group's programs refuse this container",
        meaning: "Another user could change it or replace it with another one, so no program opens it.",
        remedy: "Remove the write permission of other users: chmod go-w {file}",
        references: [Reference.interaction, Reference.testExtensions])

    static let ancestorWritable = AuditCheck(
        id: "ancestor.writable", severity: .high, title: "Other users may change a directory above",
        meaning: "A user who owns that directory, or may write to it, can replace this directory with another one.",
        remedy: "Remove the write permission of other users: chmod go-w {file}",
        references: [Reference.interaction, Reference.tampering])

    static let worldWritable = AuditCheck(
        id: "mode.world-writable", severity: .high, title: "All users may write here",
        meaning:
            "Every user of the machine can change, replace or plant files here. The group's programs refuse a "
            + "container with such a mode.",
        remedy: "chmod g-w,o-rwx {file}",
        references: [Reference.interaction, Reference.tampering])

    static let groupWritable = AuditCheck(
        id: "mode.group-writable", severity: .medium, title: "A unix group may write here",
        meaning:
            "Every member of the file's unix group can change, replace or plant files here. High for the container "
            + "and its own directories, because the group's programs then refuse the container.",
        remedy: "chmod g-w {file}",
        references: [Reference.interaction, Reference.tampering])

    static let worldReadable = AuditCheck(
        id: "mode.world-readable", severity: .low, title: "All users may read here",
        meaning:
            "Every user of the machine may enter the container and can read names, sizes and times. A plaintext file "
            + "is readable as well if its own mode allows that, which is medium. If other users may not enter a "
            + "directory above, they can reach nothing below it, regardless of the modes there.",
        remedy: "chmod o-rwx {file}",
        references: [Reference.leakage, Reference.testStorage])

    static let setuid = AuditCheck(
        id: "setuid", severity: .high, title: "A set-user-ID or set-group-ID file",
        meaning: "A user who runs it gets the rights of its owner or group. No state needs that.",
        remedy: "Find out what it is, and remove the bits: chmod ug-s {file}",
        references: [Reference.interaction])

    static let ownerForeign = AuditCheck(
        id: "owner.foreign", severity: .high, title: "It belongs to another user",
        meaning: "Its owner is neither the container's owner nor root. Another user put it there and may change it.",
        remedy: "Find out who put it there, and ask that user to move it away: ls -ln {file}",
        references: [Reference.interaction, Reference.tampering])

    static let accessList = AuditCheck(
        id: "acl.grants", severity: .medium, title: "An access list grants further rights",
        meaning:
            "A POSIX access control list gives users or groups rights that the mode does not show; high if one of "
            + "them may write.",
        remedy: "See which users and groups it names (getfacl -n {file}), and remove the list: setfacl -b {file}",
        references: [Reference.interaction, Reference.leakage])

    static let accessListInherited = AuditCheck(
        id: "acl.inherited", severity: .medium, title: "New files here get an access list",
        meaning:
            "A default access control list of the directory gives users or groups rights to everything that is "
            + "created in it.",
        remedy: "See which users and groups it names (getfacl -n {file}), and remove it: setfacl -k {file}",
        references: [Reference.interaction, Reference.leakage])

    static let hardLink = AuditCheck(
        id: "hardlink.leaves-container", severity: .medium, title: "A file has a name outside the container",
        meaning:
            "It has more names (hard links) than the container shows. A program that opens another name can read and "
            + "change the file there. The file remains after it is removed here.",
        remedy: "Find the other name (find / -samefile {file}), or put a copy in its place: "
            + "cp -p {file} {file}.copy && mv {file}.copy {file}",
        references: [Reference.leakage, Reference.interaction])

    static let permissions = [
        containerRefused, ancestorWritable, worldWritable, groupWritable, worldReadable, accessList,
        accessListInherited, hardLink, setuid, ownerForeign,
    ]
}
