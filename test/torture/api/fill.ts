/**
 * Fills the store of a stopped server with objects, faster than requests could: with copies of objects that the server
 * stored.
 */
import { join } from 'node:path'
import { dataDirectoryPaths } from '../../../src/cluster/data-directory.ts'
import { openLogStore } from '../../../src/storage/log/index.ts'
import { prefixRange, type Store } from '../../../src/storage/store.ts'
import type { History } from './checker/history.ts'
import { type Kind, namespaces, shards } from './objects.ts'

/** Opens the store with the driver of the server. */
const openStore = (dataDirectory: string): Promise<Store> =>
  openLogStore({ directory: dataDirectoryPaths(dataDirectory).store })

const writersAtOnce = 1000
/** One in this many objects is in each of the smaller namespaces. */
const smallShare = 20

/** Most objects are pod templates; one in twenty is of each other kind. */
function kindOf(i: number): Kind {
  const others: readonly Kind[] = ['configmaps', 'secrets', 'leases']
  return others[i % 20] ?? 'podtemplates'
}

const fillName = (i: number): string => `fill-${String(i).padStart(6, '0')}`

/**
 * Creates `objects` copies of the objects named `template`, one of which must exist for each kind, and records them as
 * writes.
 */
export async function fillStore(directory: string, history: History, objects: number): Promise<void> {
  const store = await openStore(join(directory, 'data'))
  try {
    const templates = await templatesIn(store)
    let next = 0
    const writer = async (): Promise<void> => {
      while (next < objects) {
        const i = next++
        const kind = kindOf(i)
        const template = templates.get(kind)!
        const namespace = namespaces[(Math.floor(i / 20) % smallShare) + 1] ?? namespaces[0]
        const key = history.key(kind, namespace, fillName(i))
        const write = history.begin(key, 'create', shards[i % shards.length]!, performance.now())
        const { revision } = await put(store, template, write.count, key, write.shard)
        write.revision = revision
        write.outcome = 'acknowledged'
        write.answered = performance.now()
      }
    }
    await Promise.all(Array.from({ length: Math.min(writersAtOnce, objects) }, writer))
  } finally {
    await store.close()
  }
}

interface Template {
  readonly prefix: string
  readonly text: string
}

async function templatesIn(store: Store): Promise<Map<string, Template>> {
  const { entries } = await store.list(prefixRange('/registry/'))
  const templates = new Map<string, Template>()
  for (const { key, value } of entries) {
    const [, prefix, kind] = /^(\/registry\/(\w+)\/)\w+\/template$/.exec(key) ?? []
    if (prefix && kind) templates.set(kind, { prefix, text: slim(value.toString()) })
  }
  return templates
}

/** Removes managed fields, which are half of a small object and would only slow lists down. */
function slim(text: string): string {
  const { metadata, ...rest } = JSON.parse(text) as {
    readonly kind: string
    readonly apiVersion: string
    readonly metadata: Readonly<Record<string, unknown>>
  }
  const { managedFields: _, ...meta } = metadata
  const { kind, apiVersion, ...payload } = rest
  return JSON.stringify({ kind, apiVersion, metadata: meta, ...payload })
}

async function put(
  store: Store,
  { prefix, text }: Template,
  count: number,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  shard: number,
): Promise<{ readonly revision: number }> {
  const value = Buffer.from(copyOf(text, count, namespace, name, shard))
  const key = `${prefix}${namespace}/${name}`
  const result = await store.commit({ conditions: [{ key, revision: 0 }], operations: [{ key, value }] })
  if (!result.committed) throw new Error(`${key} exists already`)
  return result
}

/**
 * Returns the template with another name and count. The order of members is retained, since the server relies on it.
 */
function copyOf(text: string, count: number, namespace: string, name: string, shard: number): string {
  const encoded = Buffer.from(String(count)).toString('base64')
  return text
    .replace('"name":"template"', `"name":"${name}"`)
    .replace(/"namespace":"\w+"/, `"namespace":"${namespace}"`)
    .replace(/"uid":"[^"]*"/, `"uid":"${crypto.randomUUID()}"`)
    .replace(/"shard":"\d"/, `"shard":"${shard}"`)
    .replaceAll(/"(count|holderIdentity)":"\d+"/g, `"$1":"${count}"`)
    .replace(/"data":\{"count":"[^"]*=="\}/, `"data":{"count":"${encoded}"}`)
}
