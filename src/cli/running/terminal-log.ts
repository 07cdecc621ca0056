/**
 * The log of commands that print plain lines. On a terminal, the status of a request has a colour, and other lines are
 * broken between words.
 */
import { Ansis } from 'ansis'
import type { Log } from '../../lib/log/log.ts'
import { wrapped } from '../terminal/wrap.ts'

/** The part of a standard stream that the log needs. */
export interface LineOutput {
  readonly isTTY?: boolean
  /** The width of a terminal. */
  readonly columns?: number
  write(text: string): unknown
}

/** Writes plain lines. `level` is that of `Ansis`, for terminals; default: what the environment says. */
export function terminalLog(output: LineOutput, level?: 0 | 1): Log {
  // On CI, ansis uses colours without a terminal.
  const colour = new Ansis(output.isTTY ? level : 0)
  return (line, _severity, event) => {
    const status = event?.fields.resp
    const isColoured = typeof status === 'number' && line.startsWith(`${status} `)
    if (isColoured) output.write(`${colour[colourOf(status)](`${status}`)}${line.slice(`${status}`.length)}\n`)
    else output.write(`${isPlain(line) ? wrappedLines(line, output) : line}\n`)
  }
}

/** The prompt of a shell may stand before the output of a command in the background. */
const promptWidth = 2

/** Escape sequences for colours have no width. */
const isPlain = (line: string): boolean => !line.includes('\x1b')

const wrappedLines = (text: string, { isTTY, columns }: LineOutput): string =>
  isTTY && columns
    ? text
        .split('\n')
        .map((line) => wrapped(line, columns - promptWidth))
        .join('\n')
    : text

function colourOf(status: number): 'green' | 'cyan' | 'yellow' | 'red' {
  if (status >= 500) return 'red'
  if (status >= 400) return 'yellow'
  return status >= 300 || status < 200 ? 'cyan' : 'green'
}
