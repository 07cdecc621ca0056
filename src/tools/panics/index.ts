/** Reads crashes of Go programs from logs of many formats. */
import type { Crash } from './dump/crash.ts'
import { CrashReader } from './dump/crash-reader.ts'
import { LogLines } from './log/log-lines.ts'

/** Longer lines are truncated, in characters. No line of a crash is as long. */
const maxLineLength = 32 * 1024 * 1024

/** Returns the crashes in pieces of text, which may be split anywhere. */
export async function readCrashes(pieces: AsyncIterable<string> | Iterable<string>): Promise<readonly Crash[]> {
  const reader = new CrashReader()
  const lines = new LogLines(reader)
  let number = 0
  let rest = ''
  for await (const piece of pieces) {
    let from = 0
    for (;;) {
      const end = piece.indexOf('\n', from)
      if (end < 0) break
      lines.push(from === 0 ? rest + piece.slice(0, end) : piece.slice(from, end), ++number)
      if (from === 0) rest = ''
      from = end + 1
    }
    if (rest.length < maxLineLength) rest += piece.slice(from)
  }
  if (rest !== '') lines.push(rest, ++number)
  reader.end()
  return reader.crashes
}
