internal import AppGroups
internal import Glibc
internal import KeyVault
internal import SharedFiles
internal import SystemPackage

/// Checks the modes and owners of a group's vault, of its key file, and of the directories that contain them and the
/// readers' accepted states. No file is opened.
struct VaultFiles {
    let group: AppGroup
    let home: GroupsHome
    let credential: VaultCredential

    /// The findings on access by others; empty if the files do not exist.
    var findings: [Finding] {
        let vault = home.vaultsPath.appending(group.identifier)
        let others = S_IWGRP | S_IWOTH
        return inspect(home.vaultsPath, refusing: others, .vaultMode)
            + inspect(home.keysPath, refusing: others, .keyFileMode)
            + inspect(home.watermarksPath, refusing: others, .watermarksMode)
            + inspect(vault, refusing: others, .vaultMode)
            // A vault that several users share may be readable and writable for their unix group.
            + inspect(vault.appending(VaultPlace.leaf), refusing: S_IRWXO, .vaultMode)
            + keyFiles
    }

    private var keyFiles: [Finding] {
        switch credential {
        case .keyFile(let path): inspect(FilePath(path), refusing: S_IRWXG | S_IRWXO, .keyFileMode)
        default:
            inspect(
                FilePath(VaultPlace(AccessGroup(group), in: home).keyFilePath), refusing: S_IRWXG | S_IRWXO,
                .keyFileMode)
        }
    }

    private func inspect(_ path: FilePath, refusing refused: mode_t, _ check: AuditCheck) -> [Finding] {
        guard let leaf = path.lastComponent?.string, let parent = try? Directory.open(path.removingLastComponent()),
            let facts = try? parent.attributes(leaf), facts.kind != .symbolicLink
        else { return [] }
        let place = FindingPlace(outside: path.string, group: group.identifier)
        var findings: [Finding] = []
        // A shared directory has its own sharing mark, and a file follows its directory.
        let isShared = facts.sharing != .ownerOnly || (try? parent.sharing) == .unixGroup(facts.gid)
        let unwanted = isShared ? refused & ~S_IRWXG : refused
        if facts.mode & unwanted != 0 {
            findings.append(
                check.finding(
                    at: place, "Its mode is \(facts.mode.octal).",
                    remedy: refused & S_IRWXO == S_IWOTH ? "chmod go-w {file}" : nil))
        }
        if !isShared && facts.uid != 0 && facts.uid != geteuid() && geteuid() != 0 {
            findings.append(AuditCheck.ownerForeign.finding(at: place, "It belongs to user \(facts.uid)."))
        }
        return findings
    }
}
