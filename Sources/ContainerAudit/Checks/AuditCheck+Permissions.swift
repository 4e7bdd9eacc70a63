// Who may read and change what.
extension AuditCheck {
    static let containerRefused = AuditCheck(
        id: "container.refused", severity: .high, title: "The group's programs refuse this container",
        meaning: "Somebody else could change it or put another one in its place, so no program opens it.",
        remedy: "Take the others' rights away: chmod go-w {file}")

    static let ancestorWritable = AuditCheck(
        id: "ancestor.writable", severity: .high, title: "A directory above may be changed by others",
        meaning: "Whoever may write there, or owns it, can put another directory in the place of this one.",
        remedy: "Take the others' rights away: chmod go-w {file}")

    static let worldWritable = AuditCheck(
        id: "mode.world-writable", severity: .high, title: "Everybody may write here",
        meaning: "Every user of the machine can change, replace or plant what lies there.",
        remedy: "chmod go-w {file}")

    static let groupWritable = AuditCheck(
        id: "mode.group-writable", severity: .medium, title: "A unix group may write here",
        meaning: "Every member of the file's unix group can change, replace or plant what lies there.",
        remedy: "chmod g-w {file}")

    static let worldReadable = AuditCheck(
        id: "mode.world-readable", severity: .low, title: "Everybody may read here",
        meaning: "Names, sizes and times, and what is not sealed, are open to every user who reaches it; medium for a "
            + "file that is not sealed.",
        remedy: "chmod o-rwx {file}")

    static let setuid = AuditCheck(
        id: "setuid", severity: .high, title: "A set-user-ID or set-group-ID file",
        meaning: "Whoever runs it gets its owner's rights. No state needs that.",
        remedy: "Find out what it is, and take the bits away: chmod ug-s {file}")

    static let ownerForeign = AuditCheck(
        id: "owner.foreign", severity: .high, title: "It belongs to another user",
        meaning: "Its owner is neither the container's nor root: somebody else put it there and may change it.",
        remedy: "Find out who put it there, then remove it or give it to the container's owner: ls -ln {file}")

    static let permissions = [
        containerRefused, ancestorWritable, worldWritable, groupWritable, worldReadable, setuid, ownerForeign,
    ]
}
