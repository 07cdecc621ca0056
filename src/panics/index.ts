/** Crashes of Go programs: read out of whatever a log puts around them. */
import type { Crash } from './dump/crash.ts'
import { CrashReader } from './dump/crash-reader.ts'
import { LogLines } from './log/log-lines.ts'

/** A line that is longer is cut: no line of a crash is. Characters. */
const longestLine = 32 * 1024 * 1024

/** The crashes in pieces of text, which may break anywhere. */
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
    if (rest.length < longestLine) rest += piece.slice(from)
  }
  if (rest !== '') lines.push(rest, ++number)
  reader.end()
  return reader.crashes
}
