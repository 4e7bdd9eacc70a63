internal import Glibc

// The real child process of every test that crosses processes: `sealed-probe COMMAND ARGUMENT...`.
// Each command lives in a file of its own and adds one line here; it answers the exit status.
let commands: [String: ([String]) -> Int32] = [
    "lock": lockCommand,
    "make-directory": makeDirectoryCommand,
    "replace": replaceCommand,
    "replace-limited": replaceLimitedCommand,
    "store-condition": storeConditionCommand,
    "store-increment": storeIncrementCommand,
    "store-list": storeListCommand,
    "store-read": storeReadCommand,
    "store-write": storeWriteCommand,
    "store-write-loop": storeWriteLoopCommand,
    "stream-memory": streamMemoryCommand,
    "vault-key": vaultKeyCommand,
    "vectors": vectorsCommand,
    "walk": walkCommand,
]

let arguments = Array(CommandLine.arguments.dropFirst())
guard let name = arguments.first, let command = commands[name] else {
    print("usage: sealed-probe \(commands.keys.sorted().joined(separator: "|")) ARGUMENT...")
    exit(64)
}
exit(command(Array(arguments.dropFirst())))
