/** Sends the log of a container: the source is read no faster than the client reads. */
import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'

/** Resolves when the log has ended, or the client has left. */
export async function sendLog(
  response: ServerResponse,
  log: AsyncIterable<Buffer>,
  limitBytes: number | undefined,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/plain' })
  response.flushHeaders()
  await pipeline(limitBytes === undefined ? log : limited(log, limitBytes), response)
}

async function* limited(log: AsyncIterable<Buffer>, limit: number): AsyncGenerator<Buffer> {
  let remaining = limit
  for await (const chunk of log) {
    yield chunk.subarray(0, remaining)
    remaining -= chunk.length
    if (remaining <= 0) return
  }
}
