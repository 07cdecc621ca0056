/** The option `trace` of test clusters. */
import { ExplainedError } from '../../../lib/explained-error.ts'

const modes = ['off', 'on', 'on-failure'] as const

/** `on` writes the traces of all tests, `on-failure` those of failed ones. */
export type TraceMode = (typeof modes)[number]

/** When traces are written, and where. */
export interface TraceSettings {
  readonly mode: TraceMode
  /** The folder of the files. Default: `traces`. */
  readonly directory?: string
}

/** Throws an ExplainedError for other values. */
export function traceSettings(option: TraceMode | TraceSettings = 'off'): Required<TraceSettings> {
  const { mode, directory = 'traces' } = typeof option === 'object' && option !== null ? option : { mode: option }
  if (!modes.includes(mode))
    throw new ExplainedError(
      `trace must be ${modes.join(', ')}, or { mode, directory }, not ${JSON.stringify(option)}.`,
    )
  if (typeof directory !== 'string' || directory === '')
    throw new ExplainedError('trace.directory must be the path of a folder.')
  return { mode, directory }
}
