/** The kubeconfig of an audit webhook: where events are sent, and who sends them. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { isObject, type JsonObject } from '../../../machinery/fields/json.ts'
import { fromYaml } from '../../../machinery/yaml.ts'

export interface WebhookTarget {
  readonly url: URL
  readonly tls: { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer; readonly servername?: string; readonly rejectUnauthorized?: false }
  /** The header, for each call: tokens in files are replaced now and then. */
  readonly authorization: () => string | undefined
}

/** Reads the current context, or the only one. Throws an ExplainedError that says what is missing. */
export function readWebhookKubeconfig(file: string): WebhookTarget {
  const fail = (why: string): Error => new ExplainedError(`initializing audit webhook: ${file}: ${why}`)
  let config: unknown
  try {
    config = fromYaml(readFileSync(file, 'utf8'))
  } catch (error) {
    throw fail((error as Error).message)
  }
  if (!isObject(config)) throw fail('it is no kubeconfig')
  const directory = dirname(file)
  const contexts = named(config.contexts, 'context')
  const chosen = text(config['current-context']) ?? (contexts.size === 1 ? [...contexts.keys()][0] : undefined)
  const context = chosen === undefined ? undefined : contexts.get(chosen)
  if (!context) throw fail(chosen ? `context ${JSON.stringify(chosen)} does not exist` : 'it has no current-context')
  const cluster = named(config.clusters, 'cluster').get(text(context.cluster) ?? '')
  const server = text(cluster?.server)
  if (!cluster || !server) throw fail('its context names no cluster with a server')
  const user = named(config.users, 'user').get(text(context.user) ?? '') ?? {}
  let url: URL
  try {
    url = new URL(server)
  } catch {
    throw fail(`server ${JSON.stringify(server)} is no URL`)
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw fail(`server ${JSON.stringify(server)} is neither https nor http`)
  const bytes = (entry: JsonObject, field: string): Buffer | undefined => {
    const data = text(entry[`${field}-data`])
    if (data) return Buffer.from(data, 'base64')
    const path = text(entry[field])
    if (!path) return undefined
    try {
      return readFileSync(resolve(directory, path))
    } catch (error) {
      throw fail((error as Error).message)
    }
  }
  const ca = bytes(cluster, 'certificate-authority')
  const cert = bytes(user, 'client-certificate')
  const key = bytes(user, 'client-key')
  const servername = text(cluster['tls-server-name'])
  return {
    url,
    tls: {
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
      ...(servername && { servername }),
      ...(cluster['insecure-skip-tls-verify'] === true && { rejectUnauthorized: false as const }),
    },
    authorization: authorizationOf(user, directory),
  }
}

function authorizationOf(user: JsonObject, directory: string): () => string | undefined {
  const tokenFile = text(user.tokenFile)
  if (tokenFile) return () => `Bearer ${readFileSync(resolve(directory, tokenFile), 'utf8').trim()}`
  const token = text(user.token)
  if (token) return () => `Bearer ${token}`
  const name = text(user.username)
  if (!name) return () => undefined
  const basic = Buffer.from(`${name}:${text(user.password) ?? ''}`).toString('base64')
  return () => `Basic ${basic}`
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** The entries of one of a kubeconfig's lists. */
function named(list: unknown, member: string): ReadonlyMap<string, JsonObject> {
  const entries = new Map<string, JsonObject>()
  for (const entry of Array.isArray(list) ? list : []) {
    if (!isObject(entry) || typeof entry.name !== 'string') continue
    const inner = entry[member]
    entries.set(entry.name, isObject(inner) ? inner : {})
  }
  return entries
}
