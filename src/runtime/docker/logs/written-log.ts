/** The end of a container's log, which an earlier runtime has written. */
import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { LogPosition } from '../../containers/logs/log-progress.ts'
import { type LogMarks, noMarks } from './log-cursor.ts'

export interface WrittenLog {
  readonly marks: LogMarks
  /** The end of the last complete line in the current file; undefined without a file. */
  readonly position: LogPosition | undefined
}

const firstTailBytes = 256 * 1024
const newline = 10

/** Reads the end of the log, or of the file before it, if the kubelet has just rotated the log. */
export function readWrittenLog(path: string): WrittenLog {
  const current = readEnd(path)
  if (current && current.position.size > 0n) return current
  const before = rotatedFile(path)
  const marks = before === undefined ? undefined : readEnd(before)?.marks
  return { marks: marks ?? noMarks, position: current?.position }
}

/** The youngest file that the kubelet has renamed, and not compressed yet. */
function rotatedFile(path: string): string | undefined {
  const [folder, name] = [dirname(path), basename(path)]
  const names = readdirSync(folder).filter((other) => other.startsWith(`${name}.`) && !/\.(gz|tmp)$/.test(other))
  const youngest = names.sort().at(-1)
  return youngest === undefined ? undefined : join(folder, youngest)
}

function readEnd(path: string): { readonly marks: LogMarks; readonly position: LogPosition } | undefined {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch {
    return undefined
  }
  try {
    const { ino: inode, size } = fstatSync(file, { bigint: true })
    for (let length = firstTailBytes; ; length *= 4) {
      const from = Math.max(0, Number(size) - length)
      const data = Buffer.alloc(Number(size) - from)
      readSync(file, data, 0, data.length, from)
      const end = data.lastIndexOf(newline) + 1
      const found = marksIn(data.subarray(0, end), from === 0)
      if (found) return { marks: found, position: { inode, size: BigInt(from + end) } }
    }
  } finally {
    closeSync(file)
  }
}

/** Undefined if the beginning of the file is needed, too. */
function marksIn(data: Buffer, isWhole: boolean): LogMarks | undefined {
  // The first line of a part may be incomplete.
  let start = isWhole ? 0 : data.indexOf(newline) + 1
  const first = timeAt(data, start)
  if (first === '') return isWhole ? noMarks : undefined
  const marks = { stdout: { at: first, count: 0 }, stderr: { at: first, count: 0 } }
  for (let end = data.indexOf(newline, start); end >= 0; end = data.indexOf(newline, start)) {
    const at = timeAt(data, start)
    const stream =
      data.toString('latin1', start + at.length + 1, start + at.length + 7) === 'stderr' ? 'stderr' : 'stdout'
    marks[stream] = { at, count: marks[stream].at === at ? marks[stream].count + 1 : 1 }
    start = end + 1
  }
  const isCut = [marks.stdout, marks.stderr].some(({ at, count }) => at === first && count > 0)
  return isWhole || !isCut ? marks : undefined
}

/** The first word of a line. */
function timeAt(data: Buffer, start: number): string {
  const end = data.indexOf(32, start)
  return end < 0 ? '' : data.toString('latin1', start, end)
}
