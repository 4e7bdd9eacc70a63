internal import Glibc
internal import Synchronization

extension ChildProcess {
    /// Sends a signal.
    package func kill(_ number: Int32) {
        // The id of a reaped child may belong to another process.
        streams.withLock { if $0.status == nil { _ = Glibc.kill(pid, number) } }
    }

    /// Waits until SIGSTOP has taken effect.
    package func waitUntilStopped() throws {
        var status: Int32 = 0
        if waitpid(pid, &status, WUNTRACED) != pid || status & 0xFF != 0x7F { throw SystemFailure("wait for a stop") }
    }

    /// Writes text to the child's standard input.
    package func write(_ text: String) throws {
        try streams.withLock { streams in
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.write(streams.input, $0.baseAddress, $0.count) }
                if count < 0 { throw SystemFailure("write to the child") }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Closes the child's standard input.
    package func closeInput() {
        streams.withLock { $0.close(\.input) }
    }

    /// Closes the reading end of the child's standard output, so that its next write fails with EPIPE.
    package func closeOutput() {
        streams.withLock { $0.close(\.output) }
    }

    /// Returns the next line of standard output without its end, or `nil` at the end.
    package func readLine(timeLimit: Duration = .seconds(60)) throws -> String? {
        let deadline = ContinuousClock.now + timeLimit
        return try streams.withLock { streams in
            while true {
                if let end = streams.outputRead.firstIndex(of: UInt8(ascii: "\n")) {
                    defer { streams.outputRead.removeSubrange(...end) }
                    return String(decoding: streams.outputRead[..<end], as: UTF8.self)
                }
                if streams.output < 0 { return nil }
                _ = try streams.pump(input: [], until: deadline)
            }
        }
    }

    /// Writes the rest of the input, collects the output, and waits for the end of the process. The process is killed
    /// after the time limit.
    package func finish(input: [UInt8] = [], timeLimit: Duration = .seconds(120)) throws -> ChildResult {
        let deadline = ContinuousClock.now + timeLimit
        return try streams.withLock { streams in
            var rest = input[...]
            if rest.isEmpty { streams.close(\.input) } else { _ = fcntl(streams.input, F_SETFL, O_NONBLOCK) }
            do {
                while streams.output >= 0 || streams.errors >= 0 {
                    rest = try streams.pump(input: rest, until: deadline)
                }
            } catch {
                Glibc.kill(pid, SIGKILL)
                _ = streams.reap(pid)
                throw error
            }
            streams.close(\.input)
            return ChildResult(status: streams.reap(pid), output: streams.outputRead, errors: streams.errorsRead)
        }
    }
}

extension ChildProcess.Streams {
    mutating func close(_ stream: WritableKeyPath<Self, Int32>) {
        if self[keyPath: stream] >= 0 { _ = Glibc.close(self[keyPath: stream]) }
        self[keyPath: stream] = -1
    }

    /// Waits until a stream is ready, moves the available bytes, and returns the rest of the input.
    mutating func pump(
        input rest: ArraySlice<UInt8>, until deadline: ContinuousClock.Instant
    ) throws -> ArraySlice<UInt8> {
        let feeds = !rest.isEmpty && input >= 0
        var requests = [
            pollfd(fd: output, events: Int16(POLLIN), revents: 0),
            pollfd(fd: errors, events: Int16(POLLIN), revents: 0),
            pollfd(fd: feeds ? input : -1, events: Int16(POLLOUT), revents: 0),
        ]
        if poll(&requests, 3, 100) < 0 && errno != EINTR { throw SystemFailure("poll") }
        if requests[0].revents != 0 { collect(\.output, into: \.outputRead) }
        if requests[1].revents != 0 { collect(\.errors, into: \.errorsRead) }
        if ContinuousClock.now > deadline { throw SystemFailure("the child's time limit", ETIMEDOUT) }
        return requests[2].revents != 0 ? feed(rest) : rest
    }

    private mutating func collect(
        _ stream: WritableKeyPath<Self, Int32>, into bytes: WritableKeyPath<Self, [UInt8]>
    ) {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(self[keyPath: stream], &chunk, chunk.count)
        if count > 0 { self[keyPath: bytes] += chunk[..<count] } else { close(stream) }
    }

    private mutating func feed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let count = bytes.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
        let failed = count < 0 && errno != EAGAIN
        let rest = failed ? [] : bytes.dropFirst(max(count, 0))
        // A child that reads no further has closed its end. This is not a failure of the test.
        if rest.isEmpty { close(\.input) }
        return rest
    }

    mutating func reap(_ pid: Int32) -> ChildStatus {
        if let status { return status }
        var number: Int32 = 0
        while waitpid(pid, &number, 0) < 0 && errno == EINTR {}
        let ended = ChildStatus(waitStatus: number)
        status = ended
        return ended
    }
}
