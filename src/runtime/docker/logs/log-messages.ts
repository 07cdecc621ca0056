/** Output of a container as the engine's logs have it: a time before each piece of at most 16 KiB. */
import { FrameSplitter } from '../../../lib/docker-engine/index.ts'
import type { OutputStream } from '../../containers/logs/log-lines.ts'

export interface LogMessage {
  readonly stream: OutputStream
  /** In the form of RFC 3339 with nine digits; those of one stream never decrease. */
  readonly at: string
  /** Without the line break. */
  readonly text: Buffer
  /** False for a piece of a line whose rest follows, or never came. */
  readonly isComplete: boolean
}

const newline = 10
const carriageReturn = 13
const blank = 32
/** The engine splits longer lines. In bytes. */
const maxPieceBytes = 16 * 1024
/** `2026-11-27T14:10:01.229126805Z` */
const timeBytes = 30

/** Splits the log of a container. Each container has a splitter of its own. */
export interface LogSplitter {
  /** Returns the messages that a chunk completes. */
  add(chunk: Buffer): LogMessage[]
  /** Returns the message that the end of the log completes. */
  end(): LogMessage[]
}

export const logSplitter = (isTerminal: boolean): LogSplitter =>
  isTerminal ? new TerminalSplitter() : new StreamSplitter()

/** A frame is a message. */
class StreamSplitter implements LogSplitter {
  readonly #frames = new FrameSplitter()

  add(chunk: Buffer): LogMessage[] {
    return this.#frames.add(chunk).map(({ stream, data }) => messageOf(stream, data, false))
  }

  end(): LogMessage[] {
    return []
  }
}

/** The log of a terminal has no frames: a message ends with a line break, or when it is as long as they may be. */
class TerminalSplitter implements LogSplitter {
  #rest: Buffer = Buffer.alloc(0)

  add(chunk: Buffer): LogMessage[] {
    const data = Buffer.concat([this.#rest, chunk])
    const messages: LogMessage[] = []
    let start = 0
    for (let end = endOf(data, start); end > 0; end = endOf(data, start)) {
      messages.push(messageOf('stdout', data.subarray(start, end), true))
      start = end
    }
    this.#rest = Buffer.from(data.subarray(start))
    return messages
  }

  end(): LogMessage[] {
    const rest = this.#rest
    this.#rest = Buffer.alloc(0)
    return rest.length > timeBytes ? [messageOf('stdout', rest, true)] : []
  }
}

/** The end of the first message from `start` on; 0 if it is not complete. */
function endOf(data: Buffer, start: number): number {
  const textStart = start + timeBytes + 1
  const end = data.indexOf(newline, textStart - 1)
  if (end >= 0 && end < textStart + maxPieceBytes + 1) return end + 1
  // A later byte shows that no line break follows a piece of the full size.
  return data.length > textStart + maxPieceBytes ? textStart + maxPieceBytes : 0
}

function messageOf(stream: OutputStream, data: Buffer, isTerminal: boolean): LogMessage {
  const space = data.indexOf(blank)
  if (space < 0) throw new Error('a line of the Docker engine has no time')
  const isComplete = data.at(-1) === newline
  const end = data.length - (isComplete ? 1 : 0)
  const isReturn = isTerminal && isComplete && end > space + 1 && data[end - 1] === carriageReturn
  return {
    stream,
    at: data.toString('latin1', 0, space),
    text: data.subarray(space + 1, isReturn ? end - 1 : end),
    isComplete,
  }
}

/** A line of CRI's format. */
export const criLine = ({ at, stream, isComplete, text }: LogMessage): Buffer =>
  Buffer.concat([Buffer.from(`${at} ${stream} ${isComplete ? 'F' : 'P'} `), text, lineBreak])

const lineBreak = Buffer.from('\n')
