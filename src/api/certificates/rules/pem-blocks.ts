/** Parses PEM blocks (RFC 7468) as Go's encoding/pem does: text between them is ignored. */

export interface PemBlock {
  /** `CERTIFICATE`, … */
  readonly type: string
  /** True if lines such as `Proc-Type: 4,ENCRYPTED` precede the content. */
  readonly hasHeaders: boolean
  readonly bytes: Buffer
}

/** Parsing stops after this many types without an END line, which bounds its time. */
const maxTypes = 10

export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = []
  const begin = /-----BEGIN ([^-\n]+)-----/g
  // Types without an END line from here on: no later block of them can have one.
  const endless = new Set<string>()
  for (let match = begin.exec(text); match; match = begin.exec(text)) {
    const [, type = ''] = match
    if (endless.has(type)) continue
    const end = `-----END ${type}-----`
    const at = text.indexOf(end, begin.lastIndex)
    if (at < 0) {
      endless.add(type)
      if (endless.size > maxTypes) break
      continue
    }
    const content = contentStart(text, begin.lastIndex, at)
    blocks.push({ type, hasHeaders: content.hasHeaders, bytes: Buffer.from(text.slice(content.start, at), 'base64') })
    begin.lastIndex = at + end.length
  }
  return blocks
}

/** Skips headers: leading lines with a colon. */
function contentStart(
  text: string,
  from: number,
  end: number,
): { readonly start: number; readonly hasHeaders: boolean } {
  let start = from
  let hasHeaders = false
  for (let line = lineAfter(text, from); line < end; line = lineAfter(text, line)) {
    start = line
    const colon = text.slice(line, Math.min(lineAfter(text, line), end)).includes(':')
    if (!colon) break
    hasHeaders = true
    start = end
  }
  return { start, hasHeaders }
}

function lineAfter(text: string, from: number): number {
  const at = text.indexOf('\n', from)
  return at < 0 ? text.length : at + 1
}
