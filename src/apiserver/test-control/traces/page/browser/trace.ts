/** The trace of this page, with what the views share. */
import type { TraceData } from '../../trace-data.ts'
import { type History, historiesOf } from '../model/histories.ts'

export interface Trace {
  readonly data: TraceData
  readonly histories: ReadonlyMap<string, History>
}

/** Reads the compressed data of the document. */
export async function readTrace(): Promise<Trace> {
  const base64 = document.getElementById('trace')?.textContent?.trim() ?? ''
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text()
  const data = JSON.parse(text) as TraceData
  return { data, histories: historiesOf(data) }
}

/** `+1.234 s` after the beginning of the trace; empty for undefined. */
export function offsetText(trace: Trace, time: number | undefined): string {
  if (time === undefined) return ''
  const seconds = (time - trace.data.begin) / 1000
  return `${seconds < 0 ? '' : '+'}${seconds.toFixed(3)} s`
}

export const durationText = (ms: number | undefined): string => {
  if (ms === undefined) return 'open'
  return ms < 1000 ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString('en')} ${number === 1 ? one : many}`
