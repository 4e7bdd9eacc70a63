// Checks of permissions.
extension AuditCheck {
    static let containerRefused = AuditCheck(
        id: "container.refused", severity: .high, title: "The group's programs refuse this container",
        meaning: "Somebody else could change it or put another one in its place, so no program opens it.",
        remedy: "Take the others' rights away: chmod go-w {file}",
        references: [Reference.interaction, Reference.testExtensions])

    static let ancestorWritable = AuditCheck(
        id: "ancestor.writable", severity: .high, title: "A directory above may be changed by others",
        meaning: "Whoever may write there, or owns it, can put another directory in the place of this one.",
        remedy: "Take the others' rights away: chmod go-w {file}",
        references: [Reference.interaction, Reference.tampering])

    static let worldWritable = AuditCheck(
        id: "mode.world-writable", severity: .high, title: "Everybody may write here",
        meaning:
            "Every user of the machine can change, replace or plant what lies there; the group's programs refuse a "
            + "container of such a mode.",
        remedy: "chmod g-w,o-rwx {file}",
        references: [Reference.interaction, Reference.tampering])

    static let groupWritable = AuditCheck(
        id: "mode.group-writable", severity: .medium, title: "A unix group may write here",
        meaning: "Every member of the file's unix group can change, replace or plant what lies there. High for the "
            + "container and its own directories: the group's programs refuse it then.",
        remedy: "chmod g-w {file}",
        references: [Reference.interaction, Reference.tampering])

    static let worldReadable = AuditCheck(
        id: "mode.world-readable", severity: .low, title: "Everybody may read here",
        meaning: "The container lets every user of the machine in: names, sizes and times lie open, and what is not "
            + "sealed where its own mode allows that, which is medium. A directory above that others may not enter "
            + "closes all that lies below, whatever the modes there.",
        remedy: "chmod o-rwx {file}",
        references: [Reference.leakage, Reference.testStorage])

    static let setuid = AuditCheck(
        id: "setuid", severity: .high, title: "A set-user-ID or set-group-ID file",
        meaning: "Whoever runs it gets its owner's rights. No state needs that.",
        remedy: "Find out what it is, and take the bits away: chmod ug-s {file}",
        references: [Reference.interaction])

    static let ownerForeign = AuditCheck(
        id: "owner.foreign", severity: .high, title: "It belongs to another user",
        meaning: "Its owner is neither the container's nor root: somebody else put it there and may change it.",
        remedy: "Find out who put it there, and have that user move it away: ls -ln {file}",
        references: [Reference.interaction, Reference.tampering])

    static let accessList = AuditCheck(
        id: "acl.grants", severity: .medium, title: "An access list lets single users in",
        meaning: "A POSIX access control list gives users or groups rights that the mode does not show; high where "
            + "one of them may write.",
        remedy: "See whom it names (getfacl -n {file}), and take the list away: setfacl -b {file}",
        references: [Reference.interaction, Reference.leakage])

    static let accessListInherited = AuditCheck(
        id: "acl.inherited", severity: .medium, title: "New files here get an access list",
        meaning:
            "A default access control list of the directory gives users or groups rights to whatever is made in it.",
        remedy: "See whom it names (getfacl -n {file}), and take it away: setfacl -k {file}",
        references: [Reference.interaction, Reference.leakage])

    static let hardLink = AuditCheck(
        id: "hardlink.leaves-container", severity: .medium, title: "A file has a name outside of the container",
        meaning: "It has more names (hard links) than the container shows: whoever has the other one reads and changes "
            + "it there, and it stays when it is removed here.",
        remedy: "Find the other name (find / -samefile {file}), or put a copy in its place: "
            + "cp -p {file} {file}.copy && mv {file}.copy {file}",
        references: [Reference.leakage, Reference.interaction])

    static let permissions = [
        containerRefused, ancestorWritable, worldWritable, groupWritable, worldReadable, accessList,
        accessListInherited, hardLink, setuid, ownerForeign,
    ]
}
