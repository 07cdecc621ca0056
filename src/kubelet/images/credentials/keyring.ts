/** Finds the credentials for an image among those of secrets, the node and credential providers. */
import { createHash } from 'node:crypto'
import type { Secret } from '../../../client/kinds.ts'
import { type DockerConfig, type Login, parseConfigJson, parseDockercfg } from '../../../node/images/docker-config.ts'
import { matchesRegistry } from './registry-pattern.ts'

/** The object that a credential comes from. */
export interface CredentialSource {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export interface Credential extends Login {
  /** Identifies the login without showing it. */
  readonly hash: string
  /** Undefined for a credential of the node, which all pods may use. */
  readonly secret?: CredentialSource
}

const defaultRegistry = 'index.docker.io'

/**
 * Returns the credentials for an image (registry and repository), those of longer paths first. Several may match, as
 * while passwords are replaced; each is tried.
 */
export function lookUpCredentials(config: DockerConfig, image: string, secret?: CredentialSource): Credential[] {
  const byKey = new Map<string, Login[]>()
  for (const [registry, login] of config) {
    const key = keyOf(registry)
    const logins = byKey.get(key)
    if (logins) logins.push(login)
    else byKey.set(key, [login])
  }
  const keys = [...byKey.keys()].sort().reverse()
  const matching = keys.filter((key) => matchesRegistry(key, image)).flatMap((key) => byKey.get(key)!)
  const logins = matching.length === 0 && isDocker(image) ? (byKey.get(defaultRegistry) ?? []) : matching
  return logins.map((login) => ({ ...login, hash: hashOf(login), ...(secret && { secret }) }))
}

/** Registry and path without scheme and API version: `https://index.docker.io/v1/` → `index.docker.io`. */
function keyOf(registry: string): string {
  const [, host = '', path = ''] = /^(?:https?:\/\/)?([^/]*)(.*)$/s.exec(registry) ?? []
  const effective = /^\/v[12]\//.test(path) ? path.slice(3) : path
  return effective === '/' ? host : host + effective
}

/** True if an image is pulled from Docker's registry. */
function isDocker(image: string): boolean {
  const [first = '', rest] = image.split(/\/(.*)/s)
  if (first === '') return false
  return rest === undefined || first === 'docker.io' || first === defaultRegistry || !/[.:]/.test(first)
}

const hashOf = ({ username, password }: Login): string =>
  createHash('sha256')
    .update(JSON.stringify([username, password]))
    .digest('hex')

/** The credentials of a secret for an image. Throws an Error if the secret contains no valid Docker config. */
export function secretCredentials({ metadata, type, data = {} }: Secret, image: string): Credential[] {
  const { name = '', namespace = '', uid = '' } = metadata
  const source = { name, namespace, uid }
  const json = data['.dockerconfigjson']
  if (type === 'kubernetes.io/dockerconfigjson' && json)
    return lookUpCredentials(parseConfigJson(decoded(json)), image, source)
  const older = data['.dockercfg']
  if (type === 'kubernetes.io/dockercfg' && older)
    return lookUpCredentials(parseDockercfg(decoded(older)), image, source)
  return []
}

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString()
