/** Calls an extender: a POST of JSON to a verb below its URL. */
import { request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { parseJson, writeJson } from '../../lib/exact-json.ts'
import { refuseUpgrade } from '../../lib/refuse-upgrade.ts'
import type { ExtenderSettings } from './settings.ts'

/** Larger answers are rejected. In bytes. */
const maxAnswerBytes = 64 * 1024 * 1024

/** Resolves with the JSON of the answer; rejects with an Error that names the URL. */
export function post(
  { urlPrefix, timeoutMs, enableHTTPS, tls = {} }: ExtenderSettings,
  verb: string,
  body: object,
): Promise<unknown> {
  const target = `${urlPrefix.replace(/\/+$/, '')}/${verb}`
  const url = new URL(target)
  const payload = writeJson(body)
  const isSecure = url.protocol === 'https:' || enableHTTPS
  if (isSecure) url.protocol = 'https:'
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const fail = (error: Error): void =>
    reject(new Error(`extender at URL ${target}: ${error.message}`, { cause: error }))
  const options = {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) },
    signal: AbortSignal.timeout(timeoutMs),
  }
  const secured = {
    ca: tls.ca,
    cert: tls.cert,
    key: tls.key,
    servername: tls.serverName,
    rejectUnauthorized: !tls.insecure,
  }
  const sent = isSecure ? secureRequest(url, { ...options, ...secured }) : plainRequest(url, options)
  refuseUpgrade(sent).on('error', fail)
  sent.on('response', (response) => {
    const pieces: Buffer[] = []
    let size = 0
    response.on('data', (piece: Buffer) => {
      pieces.push(piece)
      if ((size += piece.length) > maxAnswerBytes) sent.destroy(new Error('the answer is longer than 64 MiB'))
    })
    response.on('error', fail)
    response.on('end', () => {
      if (response.statusCode !== 200)
        return reject(new Error(`failed ${verb} with extender at URL ${target}, code ${response.statusCode}`))
      try {
        resolve(parseJson(Buffer.concat(pieces).toString() || 'null'))
      } catch (error) {
        fail(error as Error)
      }
    })
  })
  sent.end(payload)
  return promise
}
