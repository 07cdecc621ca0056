/** Reads a kubeconfig that anybody wrote: where the server of a context is, and with which credentials to go there. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { ExplainedError, reasonOf } from '../lib/explained-error.ts'

/** What it takes to talk to a server. PEM texts; what is not used is undefined. */
export interface Connection {
  readonly url: string
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly token?: string
  readonly insecure: boolean
  /** The namespace of the context; `default` unless it says one. */
  readonly namespace: string
}

interface Named<T> {
  readonly name?: string
  readonly cluster?: T
  readonly user?: T
  readonly context?: T
}

type Fields = Readonly<Record<string, unknown>>

interface Exec {
  readonly apiVersion?: string
  readonly command?: string
  readonly args?: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value: string }[]
}

/** How long a program that hands out credentials may take, in ms. */
const execTimeoutMs = 60_000
const run = promisify(execFile)

/** The files that kubectl would read. */
export function kubeconfigFiles(environment: NodeJS.ProcessEnv, given?: string): readonly string[] {
  if (given) return [given]
  const listed = environment.KUBECONFIG?.split(delimiter).filter(Boolean) ?? []
  return listed.length > 0 ? listed : [join(environment.HOME || homedir(), '.kube', 'config')]
}

/** `contextName`: the current context unless said. Throws an ExplainedError that says what to do. */
export async function readConnection(files: readonly string[], contextName?: string): Promise<Connection> {
  const present = files.filter((file) => existsSync(file))
  const [first] = present
  if (!first) throw new ExplainedError(`there is no kubeconfig at ${files.join(', ')}: name one by --kubeconfig or KUBECONFIG`)
  const configs = present.map((file) => ({ file, config: parsed(file) }))
  const find = (section: 'contexts' | 'clusters' | 'users', entry: 'context' | 'cluster' | 'user', name: string) => {
    for (const { file, config } of configs) {
      const found = (config[section] as readonly Named<Fields>[] | undefined)?.find((one) => one.name === name)?.[entry]
      if (found) return { fields: found, folder: dirname(resolve(file)) }
    }
    throw new ExplainedError(`${first} has no ${entry} called ${JSON.stringify(name)}`)
  }
  const current = contextName || configs.map(({ config }) => text(config['current-context'])).find(Boolean)
  if (!current) throw new ExplainedError(`${first} has no current context: choose one by --context`)
  const context = find('contexts', 'context', current).fields
  const cluster = find('clusters', 'cluster', text(context.cluster) ?? '')
  const user = find('users', 'user', text(context.user) ?? '')
  const url = text(cluster.fields.server)
  if (!url) throw new ExplainedError(`${first} names no server for the context ${JSON.stringify(current)}`)
  return {
    url: url.replace(/\/+$/, ''),
    ca: pem(cluster, 'certificate-authority'),
    insecure: cluster.fields['insecure-skip-tls-verify'] === true,
    namespace: text(context.namespace) || 'default',
    cert: pem(user, 'client-certificate'),
    key: pem(user, 'client-key'),
    token: text(user.fields.token) ?? tokenOf(user),
    ...(await credentials(user)),
  }
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

function parsed(file: string): Fields {
  try {
    const config: unknown = parse(readFileSync(file, 'utf8'))
    if (typeof config === 'object' && config !== null) return config as Fields
  } catch (error) {
    throw new ExplainedError(`cannot read ${file}: ${reasonOf(error)}`, { cause: error })
  }
  throw new ExplainedError(`${file} is no kubeconfig`)
}

interface Entry {
  readonly fields: Fields
  readonly folder: string
}

/** From `NAME-data` in base64, or from the file `NAME`. */
function pem({ fields, folder }: Entry, name: string): string | undefined {
  const data = text(fields[`${name}-data`])
  if (data) return Buffer.from(data, 'base64').toString()
  const file = text(fields[name])
  return file && contentOf(resolve(folder, file))
}

function tokenOf({ fields, folder }: Entry): string | undefined {
  const file = text(fields.tokenFile)
  return file && contentOf(resolve(folder, file)).trim()
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ExplainedError(`the kubeconfig names ${file}, which cannot be read: ${reasonOf(error)}`, { cause: error })
  }
}

/** What the program says that a user's entry names (`exec`). */
async function credentials({ fields, folder }: Entry): Promise<Partial<Connection>> {
  const exec = fields.exec as Exec | undefined
  if (!exec?.command) return {}
  const apiVersion = exec.apiVersion ?? 'client.authentication.k8s.io/v1'
  const info = JSON.stringify({ kind: 'ExecCredential', apiVersion, spec: { interactive: false } })
  const env = { ...process.env, ...Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value])), KUBERNETES_EXEC_INFO: info }
  const command = exec.command.includes('/') ? resolve(folder, exec.command) : exec.command
  try {
    const { stdout } = await run(command, [...(exec.args ?? [])], { env, timeout: execTimeoutMs })
    const { status } = JSON.parse(stdout) as { readonly status?: Fields }
    const [token, cert, key] = [text(status?.token), text(status?.clientCertificateData), text(status?.clientKeyData)]
    return { ...(token && { token }), ...(cert && { cert }), ...(key && { key }) }
  } catch (error) {
    throw new ExplainedError(`${exec.command}, which the kubeconfig names, gave no credentials: ${reasonOf(error)}`, { cause: error })
  }
}
