// The Share Extension: it is started with a title, takes a picture from its input, hands it to the app, and ends.
//
// The picture becomes a sealed file, and a message in the app's mailbox names it. The app need not run.

import AccountShared
import FoundationEssentials
import Glibc
import SealedState

do {
    guard CommandLine.arguments.count == 2 else {
        printLine("failed usage: expected account-share TITLE < PICTURE")
        exit(EX_USAGE)
    }
    let title = CommandLine.arguments[1]
    let store = try await SealedStore.open(group: AppGroup("group.com.example.account"))
    let file = "pictures/\(UUID().uuidString)"
    try store.files.write(fromDescriptor: STDIN_FILENO, named: file)
    let bytes = try store.files.open(file).size
    try store.mailbox(of: HandedPicture.self).send(HandedPicture(title: title, file: file))
    printLine("handed: \(title), \(bytes) bytes")
} catch {
    printLine("failed: \(error)")
    exit(EXIT_FAILURE)
}
