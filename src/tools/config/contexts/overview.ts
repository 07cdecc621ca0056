/** Overviews of contexts: server, user, credentials and expiry. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import {
  type EntryKind,
  type KubeconfigEntry,
  type KubeconfigFile,
  pemOf,
  readKubeconfigFile,
  text,
} from '../../../kubeconfig/kubeconfig-file.ts'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import { noContext } from './change-contexts.ts'
import { certificateExpiry, tokenExpiry } from './expiry.ts'

export interface ContextOverview {
  readonly name: string
  readonly current: boolean
  readonly cluster: string
  readonly server: string
  readonly user: string
  readonly namespace: string
  /** The file that contains the context. */
  readonly file: string
  /** The kinds of the user's credentials. */
  readonly credentials: string
  /** Expiry of the credentials, RFC 3339. */
  readonly expires: Expiries
  /** Problems of the context, as messages. */
  readonly problems: readonly string[]
}

export interface Expiries {
  readonly clientCertificate?: string
  readonly token?: string
  readonly certificateAuthority?: string
}

/** Reads the existing kubeconfigs. Rejects with an ExplainedError if there is none, or if one cannot be read. */
export async function readKubeconfigs(files: readonly string[]): Promise<KubeconfigFile[]> {
  const present = files.filter((file) => existsSync(file))
  if (present.length === 0)
    throw new ExplainedError(
      `there is no kubeconfig at ${files.join(', ')}: import one with t8s config import, or set KUBECONFIG`,
    )
  return Promise.all(
    present.map((file) =>
      readKubeconfigFile(file).catch((error: unknown) => {
        throw new ExplainedError(`${reasonOf(error)}; fix it, or set KUBECONFIG to another file`, { cause: error })
      }),
    ),
  )
}

/** All contexts, in their order. Rejects as `readKubeconfigs`. */
export async function contextOverviews(files: readonly string[]): Promise<ContextOverview[]> {
  const configs = await readKubeconfigs(files)
  const current = configs.map(({ currentContext }) => currentContext).find(Boolean)
  const [contexts, clusters, users] = [merged(configs, 'context'), merged(configs, 'cluster'), merged(configs, 'user')]
  return Promise.all([...contexts].map(async ([name, { entry, file }]) => overview(name, entry, file)))

  async function overview(name: string, { fields }: KubeconfigEntry, file: string): Promise<ContextOverview> {
    const [clusterName, userName] = [text(fields.cluster) ?? '', text(fields.user) ?? '']
    const cluster = clusters.get(clusterName)?.entry
    const user = users.get(userName)?.entry
    const problems: string[] = []
    if (!cluster)
      problems.push(clusterName ? `there is no cluster ${JSON.stringify(clusterName)}` : 'the context has no cluster')
    if (!user && userName) problems.push(`there is no user ${JSON.stringify(userName)}`)
    const orProblem = <T>(read: Promise<T>): Promise<T | undefined> =>
      read.catch((error: unknown) => {
        problems.push(reasonOf(error))
        return undefined
      })
    const [authority, certificate, token] = await Promise.all([
      cluster && orProblem(pemOf(cluster, 'certificate-authority')),
      user && orProblem(pemOf(user, 'client-certificate')),
      user && orProblem(tokenOf(user)),
    ])
    return {
      name,
      current: name === current,
      cluster: clusterName,
      server: text(cluster?.fields.server) ?? '',
      user: userName,
      namespace: text(fields.namespace) ?? '',
      file,
      credentials: user ? credentialsOf(user) : 'none',
      expires: {
        ...time('clientCertificate', certificate && certificateExpiry(certificate)),
        ...time('token', token && tokenExpiry(token)),
        ...time('certificateAuthority', authority && certificateExpiry(authority)),
      },
      problems,
    }
  }
}

/** The overview of a context. Default: the current one. Also rejects if the context does not exist. */
export async function contextOverview(files: readonly string[], name?: string): Promise<ContextOverview> {
  const contexts = await contextOverviews(files)
  const found = contexts.find((context) => (name === undefined ? context.current : context.name === name))
  if (found) return found
  const names = contexts.map((context) => context.name)
  if (name !== undefined) throw noContext(name, names)
  throw new ExplainedError(
    `there is no current context in ${files.join(', ')}: name one, or choose one with t8s config use`,
  )
}

/** Merges entries by name; the first file with a name wins. */
function merged(
  configs: readonly KubeconfigFile[],
  kind: EntryKind,
): ReadonlyMap<string, { readonly entry: KubeconfigEntry; readonly file: string }> {
  const all = new Map<string, { readonly entry: KubeconfigEntry; readonly file: string }>()
  for (const config of configs)
    for (const [name, entry] of config.entries(kind)) if (!all.has(name)) all.set(name, { entry, file: config.file })
  return all
}

async function tokenOf({ fields, folder }: KubeconfigEntry): Promise<string | undefined> {
  const file = text(fields.tokenFile)
  if (!file) return text(fields.token)
  const path = resolve(folder, file)
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    throw new ExplainedError(`cannot read ${path}: ${reasonOf(error)}`, { cause: error })
  }
}

function credentialsOf({ fields }: KubeconfigEntry): string {
  const { exec } = fields
  const program = typeof exec === 'object' && exec !== null && 'command' in exec ? text(exec.command) : undefined
  if (program) return `program ${program}`
  if (fields['auth-provider']) return 'auth-provider'
  const kinds = [
    (text(fields['client-certificate']) || text(fields['client-certificate-data'])) && 'certificate',
    (text(fields.tokenFile) || text(fields.token)) && 'token',
    text(fields.username) && 'password',
  ].filter(Boolean)
  return kinds.join(', ') || 'none'
}

const time = (field: keyof Expiries, at: number | undefined | ''): Expiries =>
  at ? { [field]: new Date(at).toISOString().replace('.000Z', 'Z') } : {}
