/** Continue tokens: where the next page of a list begins, and which revision it shows. Opaque to clients. */
import { badRequest } from '../../machinery/status-error.ts'

export interface ContinueToken {
  /** The revision of the first page; -1: whatever is newest (after the first page's has expired). */
  readonly revision: number
  /** The first key of the page, relative to the list's range. */
  readonly start: string
}

const version = 'meta.k8s.io/v1'

export const encodeContinue = ({ revision, start }: ContinueToken): string =>
  Buffer.from(JSON.stringify({ v: version, rv: revision, start })).toString('base64url')

/** Throws 400 for what is no token of ours. */
export function decodeContinue(text: string): ContinueToken {
  try {
    const { v, rv, start } = JSON.parse(Buffer.from(text, 'base64url').toString()) as { v: unknown; rv: unknown; start: unknown }
    if (v === version && typeof rv === 'number' && Number.isInteger(rv) && rv !== 0 && typeof start === 'string' && !start.includes('..'))
      return { revision: rv, start }
  } catch {
    // told below
  }
  throw badRequest('continue key is not valid: it must be the value that an earlier list returned')
}
