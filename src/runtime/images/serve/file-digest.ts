/** The digest of a file. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Digest } from '../formats/digest.ts'

export async function digestOfFile(file: string): Promise<Digest> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash)
  return `sha256:${hash.digest('hex')}`
}
