/** Reads a kubeconfig that says how to reach another server, such as a webhook: its current context, files that it names included. */
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ExplainedError, reasonOf } from '../lib/explained-error.ts'
import { fromYaml } from '../machinery/yaml.ts'

/** Where the other server is, whom it has to be, and who one is to it. Certificates and keys are PEM. */
export interface Connection {
  readonly url: URL
  readonly ca?: string
  readonly insecure: boolean
  readonly serverName?: string
  readonly cert?: string
  readonly key?: string
  readonly token?: string
  /** Read for each call: such tokens are renewed in place. */
  readonly tokenFile?: string
  readonly basic?: { readonly username: string; readonly password: string }
}

type Fields = Readonly<Record<string, unknown>>

/** Throws an ExplainedError that names the file. */
export async function readKubeconfig(file: string): Promise<Connection> {
  const refuse = (why: string): ExplainedError => new ExplainedError(`the kubeconfig ${file} cannot be used: ${why}`)
  const read = (path: string): Promise<string> =>
    readFile(path, 'utf8').catch((error) => {
      throw new ExplainedError(`cannot read ${path}: ${reasonOf(error)}`, { cause: error })
    })
  const config = fieldsOf(parsed(await read(file), refuse))
  const context = entry(config, 'contexts', text(config['current-context']), 'context')
  // With one cluster and one user there is nothing to choose: webhooks' files often have no context.
  const cluster = entry(config, 'clusters', text(context?.cluster), 'cluster')
  const user = entry(config, 'users', text(context?.user), 'user') ?? {}
  const server = text(cluster?.server)
  if (!cluster || !server) throw refuse('it names no server (clusters[].cluster.server)')
  if (user.exec || user['auth-provider']) throw refuse('plug-ins for credentials (exec, auth-provider) are not run: give a token or a certificate')
  const url = URL.parse(server)
  if (url?.protocol !== 'https:') throw refuse(`${JSON.stringify(server)} is no https URL`)
  const pem = async (fields: Fields, name: string): Promise<string | undefined> => {
    const data = text(fields[`${name}-data`])
    if (data) return Buffer.from(data, 'base64').toString()
    const path = text(fields[name])
    return path ? read(resolve(dirname(file), path)) : undefined
  }
  const [ca, cert, key] = await Promise.all([pem(cluster, 'certificate-authority'), pem(user, 'client-certificate'), pem(user, 'client-key')])
  if (!cert !== !key) throw refuse('client-certificate and client-key go together')
  const token = text(user.token)
  const tokenFile = text(user.tokenFile)
  const username = text(user.username)
  const serverName = text(cluster['tls-server-name'])
  return {
    url,
    insecure: cluster['insecure-skip-tls-verify'] === true,
    ...(ca && { ca }),
    ...(serverName && { serverName }),
    ...(cert && key && { cert, key }),
    ...(token && { token }),
    ...(tokenFile && !token && { tokenFile: resolve(dirname(file), tokenFile) }),
    ...(username && { basic: { username, password: text(user.password) } }),
  }
}

function parsed(content: string, refuse: (why: string) => Error): unknown {
  try {
    return fromYaml(content)
  } catch (error) {
    throw refuse(error instanceof Error ? error.message : String(error))
  }
}

/** The entry of that name in a list of `{ name, [what]: … }`; the only one, if no name is given. */
function entry(config: Fields, list: string, name: string, what: string): Fields | undefined {
  const entries = Array.isArray(config[list]) ? config[list].map(fieldsOf) : []
  const found = name ? entries.find((one) => one.name === name) : entries.length === 1 ? entries[0] : undefined
  return found && fieldsOf(found[what])
}

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
