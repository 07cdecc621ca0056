/**
 * A context on its way in, with its cluster and its user: which one is meant, and what has to become of the files and
 * servers that it names.
 */
import { ExplainedError } from '../../lib/explained-error.ts'
import {
  type ConfigDocument,
  type ConfigEntry,
  changedEntry,
  entryText,
  type Refusal,
} from '../documents/config-document.ts'
import type { ConfigSource } from './source.ts'

/** The refusal of a kubeconfig that comes from somewhere else. */
export const notImportable =
  (from: string): Refusal =>
  (why) =>
    new ExplainedError(`${from} is not a kubeconfig (${why}): nothing was changed; look at what it is, or take another`)

export interface IncomingContext {
  /** As it is called where it comes from. */
  readonly name: string
  readonly context: ConfigEntry
  readonly cluster: ConfigEntry
  /** Who needs no credentials is not named. */
  readonly user: ConfigEntry | undefined
}

/**
 * The one that somebody means: called `wanted`, else the current one, else the only one. Throws an ExplainedError that
 * says which there are.
 */
export function chosenContext(document: ConfigDocument, from: string, wanted?: string): IncomingContext {
  const names = document.names('context')
  if (names.length === 0)
    throw new ExplainedError(`${from} has no contexts: nothing was changed; take a kubeconfig that has one`)
  if (wanted !== undefined && !names.includes(wanted))
    throw new ExplainedError(`${from} has no context called ${JSON.stringify(wanted)}: it has ${names.join(', ')}`)
  const { currentContext } = document
  const name =
    wanted ??
    (currentContext && names.includes(currentContext) ? currentContext : names.length === 1 ? names[0] : undefined)
  if (name === undefined)
    throw new ExplainedError(
      `${from} has several contexts, and none is the current one: choose one by --context (${names.join(', ')})`,
    )
  return incomingContext(document, from, name)
}

/** A context that is there. Throws an ExplainedError if its cluster or its user is not. */
export function incomingContext(document: ConfigDocument, from: string, name: string): IncomingContext {
  const context = document.copyOf('context', name)!
  const part = (kind: 'cluster' | 'user'): ConfigEntry | undefined => {
    const partName = entryText(context, kind)
    const entry = partName === undefined ? undefined : document.copyOf(kind, partName)
    if (partName !== undefined && !entry)
      throw new ExplainedError(
        `${from} cannot be imported: its context ${JSON.stringify(name)} names the ${kind} ` +
          `${JSON.stringify(partName)}, which is not in it; mend it first`,
      )
    return entry
  }
  const cluster = part('cluster')
  if (!cluster)
    throw new ExplainedError(
      `${from} cannot be imported: its context ${JSON.stringify(name)} names no cluster; mend it first`,
    )
  return { name, context, cluster, user: part('user') }
}

/** Fields that name a file, and those that hold what would be in it. */
const files = {
  context: [],
  cluster: [{ field: 'certificate-authority', data: 'certificate-authority-data', base64: true }],
  user: [
    { field: 'client-certificate', data: 'client-certificate-data', base64: true },
    { field: 'client-key', data: 'client-key-data', base64: true },
    { field: 'tokenFile', data: 'token', base64: false },
  ],
} as const

/**
 * The context with paths that hold from anywhere or, with `embed`, with what the files say. Rejects with an
 * ExplainedError for files that cannot be read.
 */
export async function selfContained(
  incoming: IncomingContext,
  source: ConfigSource,
  embed: boolean,
): Promise<IncomingContext> {
  const [cluster, user] = await Promise.all([
    selfContainedEntry(incoming.cluster, source, embed),
    incoming.user && selfContainedEntry(incoming.user, source, embed),
  ])
  return { ...incoming, cluster, user }
}

/** The same for a cluster or a user alone. */
export async function selfContainedEntry(
  entry: ConfigEntry,
  source: ConfigSource,
  embed: boolean,
): Promise<ConfigEntry> {
  const fields: Record<string, string | undefined> = {}
  for (const { field, data, base64 } of files[entry.kind]) {
    const path = entryText(entry, field)
    if (path === undefined) continue
    if (!embed) fields[field] = source.absolute(path)
    else {
      fields[field] = undefined
      // As for clients: data that is there counts, and a token's file before a token.
      if (entryText(entry, data) === undefined || !base64) {
        const content = await source.read(source.absolute(path))
        fields[data] = base64 ? content.toString('base64') : content.toString().trim()
      }
    }
  }
  // Programs without a slash are looked for on the PATH.
  const command = entryText(entry, 'exec.command')
  if (command?.includes('/') && source.remoteHost === undefined) fields['exec.command'] = source.absolute(command)
  return Object.keys(fields).length > 0 ? changedEntry(entry, entry.name, fields) : entry
}

/** The server's URL, if it says that machine itself: `https://127.0.0.1:6443`. */
export function loopbackServer({ cluster }: IncomingContext): URL | undefined {
  const url = URL.parse(entryText(cluster, 'server') ?? '')
  return url && /^(localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/i.test(url.hostname) ? url : undefined
}

/** The URL of the same server as another host reaches it. */
export function serverAt(url: URL, host: string): string {
  const moved = new URL(url)
  moved.hostname = host.includes(':') ? `[${host}]` : host
  // A URL that ends with its host was written without a slash.
  return moved.href.replace(/\/$/, '')
}

/** The context with its server at another URL. */
export const withServer = (incoming: IncomingContext, server: string): IncomingContext => ({
  ...incoming,
  cluster: changedEntry(incoming.cluster, incoming.cluster.name, { server }),
})
