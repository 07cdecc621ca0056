/** Credentials of registries as Docker writes them: the auths of `config.json`, and the older `.dockercfg`. */

export interface Login {
  readonly username: string
  readonly password: string
}

/** By registry, such as `https://index.docker.io/v1/` or `registry.test/team`. */
export type DockerConfig = ReadonlyMap<string, Login>

/** Parses `{"auths": {…}}`. Throws an Error for a text that is not valid. */
export function parseConfigJson(text: string): DockerConfig {
  const { auths } = record(JSON.parse(text), 'the document')
  return auths === undefined || auths === null ? new Map() : loginsOf(record(auths, 'auths'))
}

/** Parses the older form, which is the value of `auths` alone. Throws an Error for a text that is not valid. */
export const parseDockercfg = (text: string): DockerConfig => loginsOf(record(JSON.parse(text), 'the document'))

type Fields = Readonly<Record<string, unknown>>

function record(value: unknown, name: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${name} is not an object`)
  return value as Fields
}

function loginsOf(auths: Fields): DockerConfig {
  return new Map(Object.entries(auths).map(([registry, value]) => [registry, loginOf(record(value ?? {}, 'an entry'))]))
}

function loginOf({ username, password, auth }: Fields): Login {
  if (typeof auth === 'string' && auth !== '') return decodeAuth(auth)
  return { username: textOf(username), password: textOf(password) }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Base64 of `username:password`. The messages of errors name no part of it. */
function decodeAuth(auth: string): Login {
  const decoded = Buffer.from(auth, 'base64').toString()
  const colon = decoded.indexOf(':')
  if (colon < 0) throw new Error('unable to parse auth field, must be formatted as base64(username:password)')
  return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) }
}
