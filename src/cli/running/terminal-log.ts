/** The log of commands that print plain lines: on a terminal, the status of a request has a colour. */
import { Ansis } from 'ansis'
import type { Log } from '../../lib/log/log.ts'

/** The part of a standard stream that the log needs. */
export interface LineOutput {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** Writes plain lines. `level` is that of `Ansis`, for terminals; default: what the environment says. */
export function terminalLog(output: LineOutput, level?: 0 | 1): Log {
  // On CI, ansis uses colours without a terminal.
  const colour = new Ansis(output.isTTY ? level : 0)
  return (line, _severity, event) => {
    const status = event?.fields.resp
    const isColoured = typeof status === 'number' && line.startsWith(`${status} `)
    const shown = isColoured ? colour[colourOf(status)](`${status}`) + line.slice(`${status}`.length) : line
    output.write(`${shown}\n`)
  }
}

function colourOf(status: number): 'green' | 'cyan' | 'yellow' | 'red' {
  if (status >= 500) return 'red'
  if (status >= 400) return 'yellow'
  return status >= 300 || status < 200 ? 'cyan' : 'green'
}
