/**
 * Signatures by which holders of a bootstrap token verify the config map `cluster-info` (JWS with a detached payload,
 * RFC 7515 appendix F).
 */
import { createHmac } from 'node:crypto'
import type { SigningToken } from './token.ts'

const prefix = 'jws-kubeconfig-'

const base64url = (text: string): string => Buffer.from(text).toString('base64url')

export function detachedSignature(content: string, { id, secret }: SigningToken): string {
  const header = base64url(JSON.stringify({ alg: 'HS256', kid: id }))
  const signature = createHmac('sha256', secret)
    .update(`${header}.${base64url(content)}`)
    .digest('base64url')
  return `${header}..${signature}`
}

/** Returns the data of `cluster-info` with the signatures of exactly these tokens; undefined if unchanged. */
export function signedData(
  data: Readonly<Record<string, string>>,
  tokens: Iterable<SigningToken>,
): Record<string, string> | undefined {
  const { kubeconfig } = data
  if (kubeconfig === undefined) return undefined
  const signed = Object.fromEntries(Object.entries(data).filter(([name]) => !name.startsWith(prefix)))
  for (const token of tokens) signed[`${prefix}${token.id}`] = detachedSignature(kubeconfig, token)
  const names = Object.keys(signed)
  const isSame = names.length === Object.keys(data).length && names.every((name) => data[name] === signed[name])
  return isSame ? undefined : signed
}
