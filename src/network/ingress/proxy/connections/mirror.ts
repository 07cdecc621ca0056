/** Copies of requests for mirrors. A mirror never delays a request: one that is too slow loses the rest of its copy. */
import { PassThrough, type Readable } from 'node:stream'

const maxBufferedBytes = 1024 * 1024

/** Returns the body for the backend, and one for each mirror. */
export function copyBody(
  body: Readable | undefined,
  copies: number,
): { readonly body: Readable | undefined; readonly copies: readonly (Readable | undefined)[] } {
  if (!body || copies === 0) return { body, copies: Array.from({ length: copies }, () => undefined) }
  const main = new PassThrough()
  const mirrors = Array.from({ length: copies }, () => new PassThrough())
  for (const mirror of mirrors) {
    mirror.on('error', () => {})
    body.on('data', (chunk: Buffer) => {
      if (mirror.destroyed) return
      if (mirror.writableLength + mirror.readableLength > maxBufferedBytes) mirror.destroy()
      else mirror.write(chunk)
    })
  }
  body.once('end', () => {
    for (const mirror of mirrors) mirror.end()
  })
  body.once('close', () => {
    for (const mirror of mirrors) if (!mirror.writableEnded) mirror.destroy()
  })
  body.pipe(main)
  return { body: main, copies: mirrors }
}
