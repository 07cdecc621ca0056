/** Reads the kubeconfigs of somebody at a terminal, as kubectl does: a context of theirs, and credentials, by a program where one is named. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { ExplainedError, reasonOf } from '../lib/explained-error.ts'
import { type Connection, connectionOf } from './connection.ts'
import { type EntryKind, type KubeconfigEntry, readKubeconfigFile, text } from './kubeconfig-file.ts'

export interface ContextConnection extends Connection {
  /** The namespace of the context; `default` unless it says one. */
  readonly namespace: string
}

interface Exec {
  readonly apiVersion?: string
  readonly command?: string
  readonly args?: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value: string }[]
}

interface ExecCredential {
  readonly status?: { readonly token?: string; readonly clientCertificateData?: string; readonly clientKeyData?: string }
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

/** `contextName`: the current context unless said. Rejects with an ExplainedError that says what to do. */
export async function readContext(files: readonly string[], contextName?: string): Promise<ContextConnection> {
  const present = files.filter((file) => existsSync(file))
  const [first] = present
  if (!first) throw new ExplainedError(`there is no kubeconfig at ${files.join(', ')}: name one by --kubeconfig or KUBECONFIG`)
  const configs = await Promise.all(present.map(readKubeconfigFile))
  const find = (kind: EntryKind, name = ''): KubeconfigEntry => {
    for (const config of configs) {
      const found = config.entries(kind).get(name)
      if (found) return found
    }
    throw new ExplainedError(`${first} has no ${kind} called ${JSON.stringify(name)}`)
  }
  const current = contextName || configs.map(({ currentContext }) => currentContext).find(Boolean)
  if (!current) throw new ExplainedError(`${first} has no current context: choose one by --context`)
  const context = find('context', current).fields
  const cluster = find('cluster', text(context.cluster))
  const user = find('user', text(context.user))
  const url = URL.parse(text(cluster.fields.server) ?? '')
  if (!url) throw new ExplainedError(`${first} names no server for the context ${JSON.stringify(current)}`)
  const [connection, given] = await Promise.all([connectionOf(url, cluster, user), execCredentials(user)])
  return { ...connection, ...given, namespace: text(context.namespace) ?? 'default' }
}

/** What the program says that a user's entry names (`exec`). */
async function execCredentials({ fields, folder }: KubeconfigEntry): Promise<Partial<Connection>> {
  const exec = fields.exec as Exec | undefined
  if (!exec?.command) return {}
  const apiVersion = exec.apiVersion ?? 'client.authentication.k8s.io/v1'
  const info = JSON.stringify({ kind: 'ExecCredential', apiVersion, spec: { interactive: false } })
  const env = { ...process.env, ...Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value])), KUBERNETES_EXEC_INFO: info }
  const command = exec.command.includes('/') ? resolve(folder, exec.command) : exec.command
  try {
    const { stdout } = await run(command, [...(exec.args ?? [])], { env, timeout: execTimeoutMs })
    const { status } = JSON.parse(stdout) as ExecCredential
    const [token, cert, key] = [text(status?.token), text(status?.clientCertificateData), text(status?.clientKeyData)]
    return { ...(token && { token }), ...(cert && { cert }), ...(key && { key }) }
  } catch (error) {
    throw new ExplainedError(`${exec.command}, which the kubeconfig names, gave no credentials: ${reasonOf(error)}`, { cause: error })
  }
}
