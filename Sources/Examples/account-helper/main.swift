// The helper: it answers the questions of the group's other programs until its input ends.

import AccountShared
import Dispatch
import Glibc
import GroupIPC
import SealedState

do {
    let store = try await SealedStore.open(group: AppGroup("group.com.example.account"))
    let listener = try store.channelListener(InitialsQuestion.channel)
    DispatchQueue(label: "input").async {
        while readLine() != nil {}
        listener.close()
    }
    printLine("listening: for questions about \(InitialsQuestion.channel)")
    try await listener.serve { (question: InitialsQuestion, peer) in
        let initials = question.name.split(separator: " ").prefix(2).compactMap(\.first)
        printLine("asked: by process \(peer.processID) for the initials of \(question.name)")
        return InitialsAnswer(initials: String(initials))
    }
} catch {
    printLine("failed: \(error)")
    exit(EXIT_FAILURE)
}
