/** An OpenID provider over HTTPS on localhost: it issues tokens, rotates its keys, and fails on request. */
import { constants, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { issueCertificate, makeAuthority } from '../../../src/cluster/pki/certificates.ts'
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

export interface Provider {
  readonly issuer: string
  /** The CA of its certificate, PEM. */
  readonly ca: string
  /** The keys of its key set. */
  keys: SigningKey[]
  /** Sets its behaviour, at one path or all. */
  behave(manner: Manner, path?: string): void
  /** Serves a document, such as a distributed claim. */
  serve(path: string, text: string): void
  /** Returns a token signed with its first key, with the default claims and these. */
  token(claims?: object, key?: SigningKey): string
  /** Returns the requested paths since the last call. */
  asked(): readonly { readonly path: string; readonly authorization?: string }[]
}

export const audience = 'my-client'
export const discoveryPath = '/.well-known/openid-configuration'

/** Starts the provider on a port. Default: any free one. It ends with the test. */
export async function openIdProvider(t: Lifetime, port = 0): Promise<Provider> {
  const now = new Date()
  const authority = await makeAuthority('openid-ca', now)
  const serving = await issueCertificate(
    authority,
    { commonName: 'openid', usage: 'server', hosts: ['127.0.0.1', 'localhost'] },
    now,
  )
  const manners = new Map<string, Manner>()
  const documents = new Map<string, string>()
  let asked: { path: string; authorization?: string }[] = []
  const server = createServer(serving, ({ url = '', headers }, response) => {
    const { authorization } = headers
    asked.push({ path: url, ...(authorization && { authorization }) })
    const manner = manners.get(url) ?? manners.get('') ?? 'well'
    if (misbehaved(manner, url, response)) return
    response.setHeader('content-type', 'application/json')
    if (url === discoveryPath || url === '/elsewhere/configuration') {
      const issuer = manner === 'another issuer' ? 'https://somebody.example.com' : provider.issuer
      response.end(
        JSON.stringify({
          issuer,
          jwks_uri: `${provider.issuer}/keys`,
          id_token_signing_alg_values_supported: ['RS256'],
        }),
      )
    } else if (url === '/keys') {
      const keys = provider.keys.map(({ id, algorithm, publicKey }) => ({
        ...publicKey.export({ format: 'jwk' }),
        kid: id,
        alg: algorithm,
        use: 'sig',
      }))
      response.end(JSON.stringify({ keys }))
    } else if (documents.has(url)) response.end(documents.get(url))
    else response.writeHead(404).end()
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const provider: Provider = {
    issuer: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: authority.cert,
    keys: [signingKey()],
    behave: (manner, path = '') => void manners.set(path, manner),
    serve: (path, text) => void documents.set(path, text),
    token(claims = {}, key = provider.keys[0]!) {
      const seconds = Math.floor(Date.now() / 1000)
      return signed(key, {
        iss: provider.issuer,
        aud: audience,
        sub: 'jane',
        iat: seconds,
        exp: seconds + 600,
        ...claims,
      })
    },
    asked() {
      const paths = asked
      asked = []
      return paths
    },
  }
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
