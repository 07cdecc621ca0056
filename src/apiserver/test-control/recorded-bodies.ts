/** The bodies of requests: recorded when they are read, which faults and endpoints may both do. */
import type { Request, Response } from '../http/exchange.ts'
import type { RequestFacts } from './request-facts.ts'

/** The part of a body that is known once it was read. */
export interface RecordedBody {
  /** Cut off after 64 KiB; empty before it was read. */
  readonly text: string
  /** The name of the object in a JSON body of a create; empty if there is none. */
  readonly name: string
}

const maxBodyLength = 64 * 1024
const nothing: RecordedBody = { text: '', name: '' }

export class RecordedBodies {
  readonly #bodies = new WeakMap<Request, RecordedBody>()

  /** Records the body of the request when it is read. */
  record(request: Request): void {
    const read = request.body.bind(request)
    let reading: Promise<Buffer> | undefined
    const record = async (limit: number): Promise<Buffer> => {
      const bytes = await read(limit)
      const name = request.info.verb === 'create' ? nameIn(bytes) : ''
      this.#bodies.set(request, { text: bytes.toString('utf8', 0, maxBodyLength), name })
      return bytes
    }
    request.body = (limit) => (reading ??= record(limit))
  }

  of(request: Request): RecordedBody {
    return this.#bodies.get(request) ?? nothing
  }

  /** The facts of an answered request, with the name of an object that it creates. */
  factsOf(request: Request, response: Response): RequestFacts {
    const { verb, group, resource, subresource, namespace } = request.info
    const contentType = request.header('content-type')
    return {
      ...{ verb, method: request.method, group, resource, subresource, namespace, name: this.nameOf(request) },
      path: request.rawQuery ? `${request.path}?${request.rawQuery}` : request.path,
      user: request.user?.name ?? '',
      userAgent: request.header('user-agent') ?? '',
      code: response.status,
      ...(contentType && { contentType }),
    }
  }

  /** The name in the path, or that of the object that is created. */
  nameOf(request: Request): string {
    return request.info.name || this.of(request).name
  }
}

function nameIn(bytes: Buffer): string {
  // Other formats have no name in the log.
  if (bytes[0] !== '{'.charCodeAt(0)) return ''
  try {
    const { metadata } = JSON.parse(bytes.toString()) as { readonly metadata?: { readonly name?: unknown } }
    return typeof metadata?.name === 'string' ? metadata.name : ''
  } catch {
    return ''
  }
}
