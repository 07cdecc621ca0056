/** `--logging-format`: Kubernetes' log formats. Default: plain lines. */
import type { LogFormat } from '../../lib/log/log.ts'
import { FlagError, type FlagValues } from './parse.ts'

const formats: readonly string[] = ['json', 'text'] satisfies LogFormat[]

/** The requested format; undefined for plain lines. Throws a FlagError with component-base's message. */
export function logFormatOf(values: FlagValues): LogFormat | undefined {
  const format = values.text('logging-format')
  if (format !== undefined && !formats.includes(format))
    throw new FlagError(`format: Invalid value: ${JSON.stringify(format)}: Unsupported log format`)
  return format as LogFormat | undefined
}
