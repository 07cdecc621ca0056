/** A context to import with its cluster and its user; resolves the files and servers that it names. */
import { ExplainedError } from '../../../lib/explained-error.ts'
import {
  type ConfigDocument,
  type ConfigEntry,
  changedEntry,
  type ErrorFactory,
  entryText,
} from '../documents/config-document.ts'
import type { ConfigSource } from './source.ts'

/** The error for a kubeconfig to import. */
export const notImportable =
  (from: string): ErrorFactory =>
  (why) =>
    new ExplainedError(`${from} is not a kubeconfig (${why}): nothing was changed; check the file, or use another`)

export interface IncomingContext {
  /** The name in the source. */
  readonly name: string
  readonly context: ConfigEntry
  readonly cluster: ConfigEntry
  /** Undefined if the context needs no credentials. */
  readonly user: ConfigEntry | undefined
}

/** Chooses the context `wanted`, else the current one, else the only one. Throws an ExplainedError that lists them. */
export function chosenContext(document: ConfigDocument, from: string, wanted?: string): IncomingContext {
  const names = document.names('context')
  if (names.length === 0)
    throw new ExplainedError(`${from} has no contexts: nothing was changed; use a kubeconfig with a context`)
  if (wanted !== undefined && !names.includes(wanted))
    throw new ExplainedError(`${from} has no context named ${JSON.stringify(wanted)}: it has ${names.join(', ')}`)
  const { currentContext } = document
  const name =
    wanted ??
    (currentContext && names.includes(currentContext) ? currentContext : names.length === 1 ? names[0] : undefined)
  if (name === undefined)
    throw new ExplainedError(
      `${from} has several contexts, and none is the current one: choose one with --context (${names.join(', ')})`,
    )
  return incomingContext(document, from, name)
}

/** An existing context. Throws an ExplainedError if its cluster or its user is missing. */
export function incomingContext(document: ConfigDocument, from: string, name: string): IncomingContext {
  const context = document.copyOf('context', name)!
  const part = (kind: 'cluster' | 'user'): ConfigEntry | undefined => {
    const partName = entryText(context, kind)
    const entry = partName === undefined ? undefined : document.copyOf(kind, partName)
    if (partName !== undefined && !entry)
      throw new ExplainedError(
        `${from} cannot be imported: its context ${JSON.stringify(name)} names the ${kind} ` +
          `${JSON.stringify(partName)}, which is missing; fix it first`,
      )
    return entry
  }
  const cluster = part('cluster')
  if (!cluster)
    throw new ExplainedError(
      `${from} cannot be imported: its context ${JSON.stringify(name)} has no cluster; fix it first`,
    )
  return { name, context, cluster, user: part('user') }
}

/** Fields with a file name, and the corresponding fields with the content. */
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
 * Returns the context with absolute paths or, with `embed`, with the content of the files. Rejects with an
 * ExplainedError for unreadable files.
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

/** The same for a cluster or a user. */
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
      // As in clients, existing data has precedence, and a token file has precedence over a token.
      if (entryText(entry, data) === undefined || !base64) {
        const content = await source.read(source.absolute(path))
        fields[data] = base64 ? content.toString('base64') : content.toString().trim()
      }
    }
  }
  // Programs without a slash are found in PATH.
  const command = entryText(entry, 'exec.command')
  if (command?.includes('/') && source.remoteHost === undefined) fields['exec.command'] = source.absolute(command)
  return Object.keys(fields).length > 0 ? changedEntry(entry, entry.name, fields) : entry
}

/** The server's URL if its host is a loopback address: `https://127.0.0.1:6443`. */
export function loopbackServer({ cluster }: IncomingContext): URL | undefined {
  const url = URL.parse(entryText(cluster, 'server') ?? '')
  return url && /^(localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/i.test(url.hostname) ? url : undefined
}

/** The URL with another host. */
export function serverAt(url: URL, host: string): string {
  const moved = new URL(url)
  moved.hostname = host.includes(':') ? `[${host}]` : host
  // Kubeconfigs write URLs without a final slash.
  return moved.href.replace(/\/$/, '')
}

/** The context with another server URL. */
export const withServer = (incoming: IncomingContext, server: string): IncomingContext => ({
  ...incoming,
  cluster: changedEntry(incoming.cluster, incoming.cluster.name, { server }),
})
