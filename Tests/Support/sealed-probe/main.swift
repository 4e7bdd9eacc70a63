internal import Glibc

// The real child process of every test that crosses processes: `sealed-probe COMMAND ARGUMENT...`.
// Each command lives in a file of its own and adds one line here; it answers the exit status.
let commands: [String: ([String]) -> Int32] = [
    "access-log": accessLogCommand,
    "append": appendCommand,
    "lock": lockCommand,
    "make-directory": makeDirectoryCommand,
    "own": ownCommand,
    "replace": replaceCommand,
    "replace-limited": replaceLimitedCommand,
    "rotate": rotateCommand,
    "rotate-hold": rotateHoldCommand,
    "rotate-writer": rotateWriterCommand,
    "share": shareCommand,
    "store-condition": storeConditionCommand,
    "store-increment": storeIncrementCommand,
    "store-list": storeListCommand,
    "store-read": storeReadCommand,
    "store-share": storeShareCommand,
    "store-write": storeWriteCommand,
    "store-write-loop": storeWriteLoopCommand,
    "stream-memory": streamMemoryCommand,
    "trust": trustCommand,
    "vault-abort": vaultAbortCommand,
    "vault-change": vaultChangeCommand,
    "vault-cost": vaultCostCommand,
    "vault-item": vaultItemCommand,
    "unlock-find": unlockFindCommand,
    "vault-key": vaultKeyCommand,
    "vault-open-identity": vaultOpenIdentityCommand,
    "vault-session": vaultSessionCommand,
    "vault-wait": vaultWaitCommand,
    "vectors": vectorsCommand,
    "walk": walkCommand,
]

let arguments = Array(CommandLine.arguments.dropFirst())
guard let name = arguments.first, let command = commands[name] else {
    print("usage: sealed-probe \(commands.keys.sorted().joined(separator: "|")) ARGUMENT...")
    exit(64)
}
exit(command(Array(arguments.dropFirst())))
