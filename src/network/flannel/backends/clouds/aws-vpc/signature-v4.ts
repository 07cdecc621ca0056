/** Signatures of AWS, version 4, for requests whose parameters are in the body. */
import { createHash, createHmac } from 'node:crypto'

export interface AwsCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Of temporary credentials, such as those of a role. */
  readonly sessionToken: string | undefined
}

export interface SignedParts {
  readonly method: string
  /** `https://ec2.eu-west-1.amazonaws.com/`; its query is part of the signature. */
  readonly url: URL
  /** All of them are signed, with `host` and `x-amz-date`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface SigningScope {
  readonly region: string
  /** `ec2`. */
  readonly service: string
  /** In ms since 1970. */
  readonly time: number
}

const algorithm = 'AWS4-HMAC-SHA256'

/** Returns the headers of a request with those of its signature. */
export function signedHeaders(
  { method, url, headers, body }: SignedParts,
  { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials,
  { region, service, time }: SigningScope,
): Record<string, string> {
  const date = new Date(time).toISOString().replace(/[-:]|\.\d+/g, '')
  const all: Record<string, string> = { host: url.host, 'x-amz-date': date }
  if (sessionToken !== undefined) all['x-amz-security-token'] = sessionToken
  for (const [name, value] of Object.entries(headers)) all[name.toLowerCase()] = value.trim().replace(/ +/g, ' ')
  const names = Object.keys(all).sort()
  const canonical = [
    method,
    url.pathname,
    canonicalQuery(url.searchParams),
    ...names.map((name) => `${name}:${all[name]}`),
    '',
    names.join(';'),
    hash(body),
  ].join('\n')
  const scope = [date.slice(0, 8), region, service, 'aws4_request']
  const key = scope.reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${secretAccessKey}`)
  const signature = hmac(key, [algorithm, date, scope.join('/'), hash(canonical)].join('\n')).toString('hex')
  const credential = `${accessKeyId}/${scope.join('/')}`
  const parts = [`Credential=${credential}`, `SignedHeaders=${names.join(';')}`, `Signature=${signature}`]
  return { ...all, authorization: `${algorithm} ${parts.join(', ')}` }
}

/** Encodes all but the unreserved characters of RFC 3986. */
export const percentEncoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

function canonicalQuery(parameters: URLSearchParams): string {
  const pairs = [...parameters].map(([name, value]) => [percentEncoded(name), percentEncoded(value)] as const)
  const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
  return pairs
    .sort(([name, value], [otherName, otherValue]) => order(name, otherName) || order(value, otherValue))
    .map((pair) => pair.join('='))
    .join('&')
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
