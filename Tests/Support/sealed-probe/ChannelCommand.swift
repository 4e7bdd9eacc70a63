internal import AppGroups
internal import Glibc
internal import GroupIPC
internal import SealedState

private struct Question: Codable, Sendable {
    var text: String
}

private struct Answer: Codable, Sendable {
    var text: String
    var number = 0
}

/// `channel-serve HOME GROUP NAME`: prints `listening`, then answers each question `SIZE WORD` with its text and SIZE
/// bytes behind it, until its input ends. Prints the error's code if it cannot listen.
func channelServeCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3 else { return 64 }
    return onStore(arguments) { store throws(StoreError) in
        do throws(AppGroupError) {
            let listener = try store.channelListener(arguments[2])
            Task {
                try await listener.serve { (question: Question, _) in
                    let size = question.text.split(separator: " ").first.flatMap { Int($0) } ?? 0
                    return Answer(text: question.text + String(repeating: "x", count: size))
                }
            }
            sayAtOnce("listening")
            while readLine() != nil {}
        } catch {
            sayAtOnce(error.code.rawValue)
        }
    }
}
