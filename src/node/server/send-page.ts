/** Sends documents about nodes. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { HttpError } from '../http-error.ts'
import type { Page, PageRequest } from './served-nodes.ts'
import type { Target } from './target.ts'

/** The largest body of a request, in bytes. */
const maxBodyBytes = 64 * 1024

/** Rejects with 404 if there is no such page. */
export async function sendPage(
  request: IncomingMessage,
  response: ServerResponse,
  { path, parts, query }: Target,
  pageOf: (request: PageRequest) => Page | undefined | Promise<Page | undefined>,
): Promise<void> {
  const { method = '' } = request
  const leaving = new AbortController()
  response.once('close', () => leaving.abort())
  const { signal } = leaving
  const page = await pageOf({ method, path, parts, query, signal, body: () => bodyOf(request) })
  if (!page) throw new HttpError(404, '404 page not found\n')
  response.writeHead(page.status ?? 200, { 'content-type': page.type, ...page.headers })
  if (typeof page.text === 'string') response.end(page.text)
  else await pipeline(page.text, response)
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > maxBodyBytes) throw new HttpError(413, 'the body is too large')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}
