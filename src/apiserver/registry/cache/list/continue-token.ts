/** Continue tokens: where the next page of a list begins, and which revision it reads. Opaque to clients. */
import { posix } from 'node:path'
import { badRequest, type StatusError } from '../../../../machinery/status-error.ts'

export interface ContinueToken {
  /** The revision of the first page; -1: the newest (used after the first page's has expired). */
  readonly revision: number
  /** The first key of the page, relative to the list's range. */
  readonly start: string
}

const version = 'meta.k8s.io/v1'

export const encodeContinue = ({ revision, start }: ContinueToken): string =>
  Buffer.from(JSON.stringify({ v: version, rv: revision, start })).toString('base64url')

/** Throws 400 for an invalid token, such as one with an empty start or a start that leads out of the range. */
export function decodeContinue(text: string): ContinueToken {
  const fault = (what: string): StatusError => badRequest(`invalid continue token: continue key is not valid: ${what}`)
  const { v, rv, start } = tokenOf(text) ?? {}
  if (typeof v !== 'string' || typeof rv !== 'number' || typeof start !== 'string')
    throw fault('it must be the value that an earlier list returned')
  if (v !== version) throw fault(`server does not recognize this encoded version ${v}`)
  if (rv === 0 || !Number.isSafeInteger(rv)) throw fault(`incorrect encoded start resourceVersion (version ${version})`)
  if (start === '') throw fault(`encoded start key empty (version ${version})`)
  // Names such as `a..b` are valid.
  const path = start.startsWith('/') ? start : `/${start}`
  if (posix.normalize(path) !== path) throw fault(start)
  return { revision: rv, start: path.slice(1) }
}

function tokenOf(text: string): Partial<Record<string, unknown>> | undefined {
  try {
    const token: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return typeof token === 'object' && token !== null ? { ...token } : undefined
  } catch {
    return undefined
  }
}
