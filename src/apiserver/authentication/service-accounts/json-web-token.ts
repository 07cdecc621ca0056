/**
 * JSON web tokens in their compact form (RFC 7515, 7519), taken apart. What is in one is believed only when its
 * signature is known.
 */
import { isObject } from '../../../machinery/fields/json.ts'

export interface JsonWebToken {
  readonly algorithm: string
  /** The `kid`: which key it is said to be signed with; empty if it does not say. */
  readonly keyId: string
  readonly claims: Readonly<Record<string, unknown>>
  /** What is signed. */
  readonly signed: string
  readonly signature: Buffer
}

/** Longer ones are nobody's; those with thousands of audiences are shorter. */
const longest = 64 * 1024

/** Undefined for what is no such token. */
export function parseToken(token: string): JsonWebToken | undefined {
  if (token.length > longest) return undefined
  const [header, payload, signature, ...rest] = token.split('.', 4)
  if (!header || !payload || signature === undefined || rest.length > 0) return undefined
  const head = jsonOf(header)
  const claims = jsonOf(payload)
  const bytes = bytesOf(signature)
  // Extensions that must be understood are not.
  if (!head || !claims || !bytes || head.crit !== undefined) return undefined
  return {
    algorithm: textOf(head.alg),
    keyId: textOf(head.kid),
    claims,
    signed: `${header}.${payload}`,
    signature: bytes,
  }
}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const bytesOf = (text: string): Buffer | undefined =>
  /^[\w-]*$/.test(text) ? Buffer.from(text, 'base64url') : undefined

function jsonOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(bytesOf(text)?.toString() ?? '')
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
