/**
 * Parses JSON web tokens in compact form (RFC 7515, 7519). The content must not be trusted before the signature is
 * verified.
 */
import { isObject } from '../../../machinery/fields/json.ts'

export interface JsonWebToken {
  readonly algorithm: string
  /** The `kid`, the claimed id of the signing key; empty if missing. */
  readonly keyId: string
  readonly claims: Readonly<Record<string, unknown>>
  /** The signed text. */
  readonly signed: string
  readonly signature: Buffer
}

/** The maximum length. Tokens with thousands of audiences are shorter. */
const maxLength = 64 * 1024

/** Returns undefined for anything that is not a token. */
export function parseToken(token: string): JsonWebToken | undefined {
  if (token.length > maxLength) return undefined
  const [header, payload, signature, ...rest] = token.split('.', 4)
  if (!header || !payload || signature === undefined || rest.length > 0) return undefined
  const head = jsonOf(header)
  const claims = jsonOf(payload)
  const bytes = bytesOf(signature)
  // Critical extensions are not supported.
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
