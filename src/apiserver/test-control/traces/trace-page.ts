/** Makes the page of a trace: one HTML file with its style, its script and the compressed data. */
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { generatedFile } from '../../../api/schema/location.ts'
import { writeJson } from '../../../lib/exact-json.ts'
import type { TraceData } from './trace-data.ts'

/** The build has put style and script into it. */
const template = 'trace-page.html'
/** The place of the data, which are base64: they cannot end the element. */
const placeholder = '{{trace}}'

/** Returns HTML. Throws if the package was not built. */
export function tracePage(data: TraceData): string {
  const [before, after = ''] = readFileSync(generatedFile(template), 'utf8').split(placeholder)
  return `${before}${gzipSync(writeJson(data)).toString('base64')}${after}`
}
