/**
 * Lines of container logs: in CRI's format (`2026-01-01T00:00:00.000000000Z stdout F text`), and in Docker's
 * (`{"log":"text\n","stream":"stdout","time":"2026-01-01T00:00:00Z"}`).
 */

export interface LogLine {
  /** RFC 3339 with up to nine digits of a second. */
  readonly time: string
  readonly stream: 'stdout' | 'stderr'
  /** False if the line goes on in the next one of its stream. */
  readonly isComplete: boolean
  readonly text: Buffer
}

/** Parses a line without its newline. Returns undefined for one in another format. */
export type ParseLine = (line: Buffer) => LogLine | undefined

const [space, newline, brace] = [0x20, 0x0a, 0x7b]

export function parseLogLine(line: Buffer): LogLine | undefined {
  const first = line.indexOf(space)
  const second = line.indexOf(space, first + 1)
  const third = line.indexOf(space, second + 1)
  if (first < 0 || second < 0 || third < 0) return undefined
  const stream = line.toString('latin1', first + 1, second)
  if (stream !== 'stdout' && stream !== 'stderr') return undefined
  const [tag] = line.toString('latin1', second + 1, third).split(':')
  const time = line.toString('latin1', 0, first)
  if (!isTime(time)) return undefined
  return { time, stream, isComplete: tag !== 'P', text: line.subarray(third + 1) }
}

export function parseDockerLine(line: Buffer): LogLine | undefined {
  const entry = objectOf(line)
  if (!entry) return undefined
  const { log, stream, time } = entry
  if (typeof log !== 'string' || (stream !== 'stdout' && stream !== 'stderr')) return undefined
  if (typeof time !== 'string' || !isTime(time)) return undefined
  const text = Buffer.from(log)
  const isComplete = text.at(-1) === newline
  return { time, stream, isComplete, text: isComplete ? text.subarray(0, -1) : text }
}

/** The parser for a log with this first line; undefined if it is in no known format. */
export function parserFor(line: Buffer): ParseLine | undefined {
  if (line[0] === brace) return parseDockerLine(line) && parseDockerLine
  return parseLogLine(line) && parseLogLine
}

function objectOf(line: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line.toString())
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

const isTime = (text: string): boolean => timePattern.test(text)

/** The time with exactly nine digits of a second, as `kubectl logs --timestamps` prints it. */
export function fixedTime(time: string): string {
  const [, fraction = '', zone = ''] = timePattern.exec(time) ?? []
  return `${time.slice(0, 19)}.${fraction.slice(1, 10).padEnd(9, '0')}${zone}`
}
