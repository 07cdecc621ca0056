/** The streams of a command that a client runs in a container, or of a container to which it attaches. */
import type { Readable, Writable } from 'node:stream'

/** The streams that the client requests. */
export interface RequestedStreams {
  readonly stdin: boolean
  readonly stdout: boolean
  /** False for terminals, which have one output. */
  readonly stderr: boolean
  readonly isTerminal: boolean
}

export interface RemoteCommand {
  /** The client's input; undefined if it has none. It must be read: an unread input holds up the connection. */
  readonly stdin: Readable | undefined
  /** Undefined if the client requests no output. A slow client delays the callbacks of writes. */
  readonly stdout: Writable | undefined
  readonly stderr: Writable | undefined
  readonly isTerminal: boolean
  /** False if the protocol cannot signal the end of the input, which then ends with the connection only. */
  readonly canEndInput: boolean
  /** Calls back with the size of the client's terminal, if it is known, and with each later one. */
  onResize(callback: (size: TerminalSize) => void): void
  /** Aborted when the client has left. */
  readonly signal: AbortSignal
}

/** In characters. */
export interface TerminalSize {
  readonly width: number
  readonly height: number
}

/** A remote command as one of the protocols has accepted it. */
export interface AcceptedCommand extends RemoteCommand {
  /** Gets the exit status. */
  readonly error: Writable
  /** True for older protocols: the exit status is a text, empty for success. */
  readonly hasPlainStatus: boolean
  /** Closes the connection after all writes. */
  close(): void
}
