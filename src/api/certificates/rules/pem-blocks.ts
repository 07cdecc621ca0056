/** PEM blocks in a text (RFC 7468), as Go's encoding/pem finds them: what stands between them counts for nothing. */

export interface PemBlock {
  /** `CERTIFICATE`, … */
  readonly type: string
  /** Whether lines such as `Proc-Type: 4,ENCRYPTED` come before the content. */
  readonly hasHeaders: boolean
  readonly bytes: Buffer
}

/** There are not many types; blocks without ends are looked for no further. */
const maxTypes = 10

export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = []
  const begin = /-----BEGIN ([^-\n]+)-----/g
  // A type whose end is nowhere behind a place is nowhere behind later ones.
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
    const body = text.slice(begin.lastIndex, at)
    const content = body.replace(/^\s*(?:[^\n:]+:[^\n]*\n)+/, '')
    blocks.push({ type, hasHeaders: content.length < body.length && body.includes(':'), bytes: Buffer.from(content, 'base64') })
    begin.lastIndex = at + end.length
  }
  return blocks
}
