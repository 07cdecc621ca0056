/** Adds contexts of other kubeconfigs to the user's. Replaces existing entries only with `force`. */
import { isDeepStrictEqual } from 'node:util'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { type ConfigDocument, type ConfigEntry, changedEntry, entryText } from '../documents/config-document.ts'
import { type IncomingContext, incomingContext } from '../import/incoming.ts'
import { checkName } from './change-contexts.ts'
import type { ConfigSet } from './config-set.ts'

export interface AddOptions {
  /** The new name. */
  readonly name: string
  /** True to replace an existing context with that name. */
  readonly force: boolean
  /** How to choose another name, for the error if the name is taken. */
  readonly hint?: string
}

/** The result: the context was new, replaced another one, or existed and is the same. */
export type Added = 'added' | 'replaced' | 'unchanged'

/**
 * Adds a context with its cluster and its user, and makes it the current context if there is none. Throws an
 * ExplainedError if the name is taken.
 */
export function addContext(
  config: ConfigSet,
  incoming: IncomingContext,
  { name, force, hint = 'choose another name with --as' }: AddOptions,
): Added {
  checkName(name)
  const present = config.entry('context', name)
  if (present) {
    if (isSame(config, present, incoming)) return 'unchanged'
    if (!force) {
      throw new ExplainedError(
        `there is already a different context named ${JSON.stringify(name)}: ${hint}, or replace it with --force`,
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

/** The content of a kubeconfig to merge. */
export interface Incoming {
  readonly contexts: readonly IncomingContext[]
  /** Clusters and users that no context uses. */
  readonly spare: readonly ConfigEntry[]
}

/**
 * Renames the entries of a kubeconfig: to `name` if it has one context, otherwise with the prefix `name-`.
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
 * Adds contexts with their own names, and unused clusters and users whose names are free. Throws as `addContext`.
 */
export function addAll(config: ConfigSet, { contexts, spare }: Incoming, force: boolean): Merged[] {
  const hint = 'add a prefix to the names of its file with PREFIX=FILE (for a single file, --as PREFIX)'
  const merged = contexts.map((incoming) => ({
    name: incoming.name,
    how: addContext(config, incoming, { name: incoming.name, force, hint }),
  }))
  for (const entry of spare) if (!config.has(entry.kind, entry.name)) config.put(entry)
  return merged
}

/** The clusters and users of a kubeconfig that none of its contexts uses. */
export function spareEntries(document: ConfigDocument, contexts: readonly IncomingContext[]): ConfigEntry[] {
  return (['cluster', 'user'] as const).flatMap((kind) => {
    const needed = new Set(contexts.map((incoming) => incoming[kind]?.name))
    return document.names(kind).flatMap((name) => (needed.has(name) ? [] : (document.copyOf(kind, name) ?? [])))
  })
}

/** All contexts of a kubeconfig. Throws an ExplainedError if one of them names a missing cluster or user. */
export const allContexts = (document: ConfigDocument, from: string): IncomingContext[] =>
  document.names('context').map((name) => incomingContext(document, from, name))

/** True if the contexts are equal, ignoring the names of their cluster and user. */
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

/** Removes the cluster and user of a context if no other context uses them. */
function dropParts(config: ConfigSet, context: string): void {
  for (const kind of ['cluster', 'user'] as const) {
    const name = config.text('context', context, kind)
    if (name && config.contextsWith(kind, name).length === 1) config.remove(kind, name)
  }
}

/** Adds a cluster or a user with its own name, or the context's name if that is taken. Returns the name. */
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
