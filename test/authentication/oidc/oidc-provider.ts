/** An OpenID provider over HTTPS on localhost: it issues tokens, rotates its keys, and fails on request. */
import { constants, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { issueCertificate, makeAuthority } from '../../../src/lib/x509/certificates.ts'
import type { Lifetime } from '../../support/reachable-cluster.ts'

export type Manner =
  | 'well'
  | 'never'
  | 'slowly without end'
  | 'huge'
  | 'redirects elsewhere'
  | 'redirects'
  | 'another issuer'
  | 'status 500'

const algorithms = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  PS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }),
  ES384: () => generateKeyPairSync('ec', { namedCurve: 'secp384r1' }),
}
export type Algorithm = keyof typeof algorithms

export interface SigningKey {
  readonly id: string
  readonly algorithm: Algorithm
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

export function signingKey(algorithm: Algorithm = 'RS256', id: string = randomUUID()): SigningKey {
  return { id, algorithm, ...algorithms[algorithm]() }
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Returns a token with these claims. */
export function signed({ id, algorithm, privateKey }: SigningKey, claims: object, header: object = {}): string {
  const text = `${base64url({ alg: algorithm, kid: id, ...header })}.${base64url(claims)}`
  const pss = algorithm.startsWith('PS')
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : {}
  const signature = sign(`sha${algorithm.slice(2)}`, Buffer.from(text), {
    key: privateKey,
    dsaEncoding: 'ieee-p1363',
    ...pss,
  })
  return `${text}.${signature.toString('base64url')}`
}

export const audience = 'my-client'
export const discoveryPath = '/.well-known/openid-configuration'

interface AskedPath {
  readonly path: string
  readonly authorization?: string
}

export class Provider {
  readonly issuer: string
  /** The CA of its certificate, PEM. */
  readonly ca: string
  /** The keys of its key set. */
  keys: SigningKey[] = [signingKey()]
  readonly #manners = new Map<string, Manner>()
  readonly #documents = new Map<string, string>()
  #asked: AskedPath[] = []

  constructor(issuer: string, ca: string) {
    this.issuer = issuer
    this.ca = ca
  }

  /** Sets its behaviour, at one path or all. */
  behave(manner: Manner, path = ''): void {
    this.#manners.set(path, manner)
  }

  /** Serves a document, such as a distributed claim. */
  serve(path: string, text: string): void {
    this.#documents.set(path, text)
  }

  /** Returns a token signed with its first key, with the default claims and these. */
  token(claims: object = {}, key: SigningKey = this.keys[0]!): string {
    const seconds = Math.floor(Date.now() / 1000)
    return signed(key, { iss: this.issuer, aud: audience, sub: 'jane', iat: seconds, exp: seconds + 600, ...claims })
  }

  /** Returns the requested paths since the last call. */
  asked(): readonly AskedPath[] {
    const asked = this.#asked
    this.#asked = []
    return asked
  }

  handle({ url = '', headers: { authorization } }: IncomingMessage, response: ServerResponse): void {
    this.#asked.push({ path: url, ...(authorization && { authorization }) })
    const manner = this.#manners.get(url) ?? this.#manners.get('') ?? 'well'
    if (misbehaved(manner, url, response)) return
    response.setHeader('content-type', 'application/json')
    if (url === discoveryPath || url === '/elsewhere/configuration')
      response.end(
        JSON.stringify({
          issuer: manner === 'another issuer' ? 'https://somebody.example.com' : this.issuer,
          jwks_uri: `${this.issuer}/keys`,
          id_token_signing_alg_values_supported: ['RS256'],
        }),
      )
    else if (url === '/keys') response.end(JSON.stringify({ keys: this.keys.map(webKey) }))
    else if (this.#documents.has(url)) response.end(this.#documents.get(url))
    else response.writeHead(404).end()
  }
}

/** Returns the public key as a JSON Web Key (RFC 7517). */
const webKey = ({ id, algorithm, publicKey }: SigningKey): object => ({
  ...publicKey.export({ format: 'jwk' }),
  kid: id,
  alg: algorithm,
  use: 'sig',
})

/** Starts the provider on a port. Default: any free one. It ends with the test. */
export async function openIdProvider(t: Lifetime, port = 0): Promise<Provider> {
  const now = new Date()
  const authority = await makeAuthority('openid-ca', now)
  const serving = await issueCertificate(
    authority,
    { commonName: 'openid', usage: 'server', hosts: ['127.0.0.1', 'localhost'] },
    now,
  )
  const server = createServer(serving)
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, authority.cert)
  server.on('request', (request, response) => provider.handle(request, response))
  return provider
}

const chunk = Buffer.alloc(1024 * 1024, ' ')

/** Returns true if the request was handled. */
function misbehaved(manner: Manner, path: string, response: ServerResponse): boolean {
  if (manner === 'never') return true
  if (manner === 'status 500') response.writeHead(500).end('out of order')
  else if (manner === 'redirects elsewhere') response.writeHead(302, { location: `https://localhost:1${path}` }).end()
  else if (manner === 'redirects') response.writeHead(302, { location: '/elsewhere/configuration' }).end()
  else if (manner === 'slowly without end') {
    const more = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(more))
  } else if (manner === 'huge') {
    const more = (): void => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  } else return false
  return true
}
