/** `--logging-format`: Kubernetes' forms of log lines. Without the flag the log is plain lines. */
import type { LogFormat } from '../../lib/log/log.ts'
import { FlagError, type FlagValues } from './parse.ts'

const formats: readonly string[] = ['json', 'text'] satisfies LogFormat[]

/** The form that was asked for; undefined for plain lines. Throws a FlagError with component-base's words. */
export function logFormatOf(values: FlagValues): LogFormat | undefined {
  const format = values.text('logging-format')
  if (format !== undefined && !formats.includes(format))
    throw new FlagError(`format: Invalid value: ${JSON.stringify(format)}: Unsupported log format`)
  return format as LogFormat | undefined
}
