/** Log lines in the formats of Kubernetes (klog text and JSON), or plain lines. */
import { basename } from 'node:path'

export type Severity = 'info' | 'warning' | 'error'

/**
 * Logs a message, which may contain line breaks. Default severity: `info`. With `event`, formats of Kubernetes write
 * that instead of the line.
 */
export type Log = (line: string, severity?: Severity, event?: LogEvent) => void

/** A message with values, as structured logs of Kubernetes have them. */
export interface LogEvent {
  readonly message: string
  readonly fields: Readonly<Record<string, string | number>>
}

/** The values of `--logging-format` in component-base. */
export type LogFormat = 'text' | 'json'

/** Writes plain lines to stderr. */
export const plainLog: Log = (line) => void process.stderr.write(`${line}\n`)

/** Writes to stderr, in a format of Kubernetes if `format` is given. */
export const standardLog = (format: LogFormat | undefined): Log =>
  format ? formattedLog(format, (text) => process.stderr.write(text)) : plainLog

/**
 * Returns a log in a format of Kubernetes. `write` gets complete lines with their line break. Each line contains the
 * location of the call, which costs some microseconds per line.
 * @example formattedLog('text', (text) => process.stderr.write(text))('serving on https://127.0.0.1:6443')
 * // I1125 17:05:12.123456    4711 up-0A1B2C3D.js:4321] serving on https://127.0.0.1:6443
 */
export function formattedLog(format: LogFormat, write: (text: string) => void): Log {
  const formatLine = format === 'json' ? jsonLine : textLine
  return function log(line, severity = 'info', event) {
    const at = performance.timeOrigin + performance.now()
    const { message = line, fields } = event ?? {}
    write(`${formatLine({ message, fields, severity, at, place: callerOf(log) })}\n`)
  }
}

export interface LogEntry {
  readonly message: string
  readonly severity: Severity
  /** Milliseconds since 1970, with a fraction. */
  readonly at: number
  /** `FILE:LINE` */
  readonly place: string
  /** The values of a structured message. */
  readonly fields?: LogEvent['fields'] | undefined
}

const digits = (value: number, width: number): string => String(value).padStart(width, '0')

/** Formats a line with the header of klog (`Lmmdd hh:mm:ss.uuuuuu process file:line]`), in local time. */
export function textLine({ message, severity, at, place, fields }: LogEntry, pid = process.pid): string {
  const micros = Math.floor(at * 1000)
  const time = new Date(Math.floor(micros / 1000))
  const day = digits(time.getMonth() + 1, 2) + digits(time.getDate(), 2)
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => digits(part, 2)).join(':')
  return (
    `${severity[0]!.toUpperCase()}${day} ${clock}.${digits(micros % 1_000_000, 6)} ${String(pid).padStart(7)} ` +
    `${place}] ${fields ? JSON.stringify(message) + textOf(fields) : message}`
  )
}

/** As klog: strings in quotes. */
const textOf = (fields: LogEvent['fields']): string =>
  Object.entries(fields)
    .map(([name, value]) => ` ${name}=${JSON.stringify(value)}`)
    .join('')

/** Formats a line as component-base: `ts` in milliseconds, and no `v` for errors. */
export function jsonLine({ message, severity, at, place, fields }: LogEntry): string {
  return JSON.stringify({
    ts: Math.round(at * 1000) / 1000,
    caller: place,
    msg: message,
    ...(severity === 'error' ? {} : { v: 0 }),
    ...fields,
  })
}

/** The location of the call of a function. */
function callerOf(called: Log): string {
  const holder: { stack?: string } = {}
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = 1
  Error.captureStackTrace(holder, called)
  Error.stackTraceLimit = before
  const [, path = 'unknown', line = '1'] = /\(?([^()\n]+):(\d+):\d+\)?$/.exec(holder.stack ?? '') ?? []
  return `${basename(path.replace(/^\s*at (async )?/, ''))}:${line}`
}
