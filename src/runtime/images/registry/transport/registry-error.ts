/** Errors of registries, in the words of containerd. */
import type { IncomingMessage } from 'node:http'
import { isObject, textOf } from '../../formats/manifest.ts'
import { ImageError, type ImageErrorCode } from '../../image-error.ts'
import { readBody } from './http-exchange.ts'

const maxBodyBytes = 64 * 1024

/** A response that is not the content. `isTransient` is true if another attempt may succeed. */
export class RegistryError extends ImageError {
  readonly status: number
  readonly isTransient: boolean
  /** The registry asks clients to wait for so long, in ms. */
  readonly retryAfterMs: number | undefined

  constructor(code: ImageErrorCode, message: string, response: IncomingMessage) {
    super(code, message)
    this.status = response.statusCode ?? 0
    this.isTransient = this.status === 408 || this.status === 429 || this.status >= 500
    this.retryAfterMs = retryAfterMs(response.headers['retry-after'])
  }
}

export interface FailedRequest {
  readonly url: string
  readonly method: string
  /** The complete name of the image, or the digest of a blob. */
  readonly name: string
}

/** Reads the body of an error response. */
export async function registryError(
  response: IncomingMessage,
  { url, method, name }: FailedRequest,
): Promise<RegistryError> {
  const { statusCode = 0, statusMessage = '' } = response
  const details = await detailsOf(response)
  switch (statusCode) {
    case 404:
      return new RegistryError('NotFound', `${name}: not found`, response)
    case 401:
    case 403:
      return new RegistryError(
        'Unknown',
        `${method === 'GET' ? 'pull' : 'push'} access denied, repository does not exist or may require ` +
          `authorization: server message: ${details || 'authorization failed'}`,
        response,
      )
    default:
      return new RegistryError(
        statusCode === 429 ? 'ResourceExhausted' : statusCode >= 500 ? 'Unavailable' : 'Unknown',
        `unexpected status from ${method} request to ${url}: ` +
          `${statusCode} ${statusMessage}${details && `\n${details}`}`,
        response,
      )
  }
}

/** Such as `toomanyrequests: slow down`; empty for a body of another form. */
async function detailsOf(response: IncomingMessage): Promise<string> {
  try {
    const body: unknown = JSON.parse((await readBody(response, maxBodyBytes)).toString())
    const errors = isObject(body) && Array.isArray(body.errors) ? body.errors : []
    return errors
      .filter(isObject)
      .map(({ code, message }) => [textOf(code).toLowerCase(), textOf(message)].filter(Boolean).join(': '))
      .join('\n')
  } catch {
    return ''
  }
}

/** Seconds, or a date. */
function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
