/** Puts contexts of other kubeconfigs into those that count. Nothing that is there is lost unless somebody says so. */
import { isDeepStrictEqual } from 'node:util'
import { ExplainedError } from '../../lib/explained-error.ts'
import { type ConfigDocument, type ConfigEntry, changedEntry, entryText } from '../documents/config-document.ts'
import { type IncomingContext, incomingContext } from '../import/incoming.ts'
import { checkName } from './change-contexts.ts'
import type { ConfigSet } from './config-set.ts'

export interface AddOptions {
  /** What it is called from now on. */
  readonly name: string
  /** Whether another one of that name goes. */
  readonly force: boolean
  /** How to choose another name, for the refusal of one that is taken. */
  readonly hint?: string
}

/** Whether it was added, took the place of another, or was there already. */
export type Added = 'added' | 'replaced' | 'there already'

/**
 * Adds a context with its cluster and its user; where there is no current context, it becomes that. Throws an
 * ExplainedError for a name that is taken.
 */
export function addContext(
  config: ConfigSet,
  incoming: IncomingContext,
  { name, force, hint = 'take it in under another name by --as' }: AddOptions,
): Added {
  checkName(name)
  const present = config.entry('context', name)
  if (present) {
    if (isSame(config, present, incoming)) return 'there already'
    if (!force) {
      throw new ExplainedError(
        `there is a context called ${JSON.stringify(name)} already, and it is another one: ${hint}, or replace ` +
          'the other by --force',
      )
    }
    dropParts(config, name)
  }
  const cluster = addPart(config, incoming.cluster, name)
  const user = incoming.user && addPart(config, incoming.user, name)
  config.put(changedEntry(incoming.context, name, { cluster, user }))
  if (!config.currentContext) config.currentContext = name
  return present ? 'replaced' : 'added'
}

export interface Merged {
  readonly name: string
  readonly how: Added
}

/** All that a kubeconfig brings. */
export interface Incoming {
  readonly contexts: readonly IncomingContext[]
  /** Clusters and users that no context needs. */
  readonly spare: readonly ConfigEntry[]
}

/**
 * The same with `name` for the context, cluster and user of a kubeconfig that has one context, and in front of all
 * names (`name-`) otherwise.
 */
export function renamed({ contexts, spare }: Incoming, name: string): Incoming {
  const prefixed = (old: string): string => `${name}-${old}`
  const entryName = (entry: ConfigEntry): string =>
    contexts.length === 1 && !spare.includes(entry) ? name : prefixed(entry.name)
  const changed = (entry: ConfigEntry): ConfigEntry => changedEntry(entry, entryName(entry))
  return {
    contexts: contexts.map(({ name: old, context, cluster, user }) => ({
      name: contexts.length === 1 ? name : prefixed(old),
      context,
      cluster: changed(cluster),
      user: user && changed(user),
    })),
    spare: spare.map(changed),
  }
}

/**
 * Adds contexts under their own names, and clusters and users that no context needs where their names are free. Throws
 * as `addContext`.
 */
export function addAll(config: ConfigSet, { contexts, spare }: Incoming, force: boolean): Merged[] {
  const hint = 'give the names of its file a prefix by PREFIX=FILE (for one file, --as PREFIX)'
  const merged = contexts.map((incoming) => ({
    name: incoming.name,
    how: addContext(config, incoming, { name: incoming.name, force, hint }),
  }))
  for (const entry of spare) if (!config.has(entry.kind, entry.name)) config.put(entry)
  return merged
}

/** The clusters and users of a kubeconfig that none of its contexts needs. */
export function spareEntries(document: ConfigDocument, contexts: readonly IncomingContext[]): ConfigEntry[] {
  return (['cluster', 'user'] as const).flatMap((kind) => {
    const needed = new Set(contexts.map((incoming) => incoming[kind]?.name))
    return document.names(kind).flatMap((name) => (needed.has(name) ? [] : (document.copyOf(kind, name) ?? [])))
  })
}

/** All contexts of a kubeconfig. Throws an ExplainedError if one of them names what is not there. */
export const allContexts = (document: ConfigDocument, from: string): IncomingContext[] =>
  document.names('context').map((name) => incomingContext(document, from, name))

/** Whether a context says the same as the one that comes, wherever its cluster and user got other names. */
function isSame(config: ConfigSet, present: ConfigEntry, { context, cluster, user }: IncomingContext): boolean {
  const part = (kind: 'cluster' | 'user'): unknown => bodyOf(config.entry(kind, entryText(present, kind) ?? ''))
  const ownFields = (entry: ConfigEntry): unknown => ({
    ...(bodyOf(entry) as object),
    cluster: undefined,
    user: undefined,
  })
  return (
    isDeepStrictEqual(ownFields(present), ownFields(context)) &&
    isDeepStrictEqual(part('cluster'), bodyOf(cluster)) &&
    isDeepStrictEqual(part('user'), user && bodyOf(user))
  )
}

/** Takes cluster and user of a context out, if no other needs them. */
function dropParts(config: ConfigSet, context: string): void {
  for (const kind of ['cluster', 'user'] as const) {
    const name = config.text('context', context, kind)
    if (name && config.contextsWith(kind, name).length === 1) config.remove(kind, name)
  }
}

/** Adds a cluster or a user under its own name, or the context's where another has that. Returns the name. */
function addPart(config: ConfigSet, entry: ConfigEntry, context: string): string {
  for (let attempt = 0; ; attempt++) {
    const name = attempt === 0 ? entry.name : attempt === 1 ? context : `${context}-${attempt}`
    const other = config.entry(entry.kind, name)
    if (other && !isDeepStrictEqual(bodyOf(other), bodyOf(entry))) continue
    if (!other) config.put({ ...entry, name })
    return name
  }
}

const bodyOf = (entry: ConfigEntry | undefined): unknown =>
  entry && (entry.plain as Readonly<Record<string, unknown>>)[entry.kind]
