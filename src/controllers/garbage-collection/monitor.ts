/** Watches the metadata of all objects of one kind and updates the graph. Has no cache. */
import { setTimeout as delay } from 'node:timers/promises'
import { ConnectionLost } from '../../client/connection/connection-lost.ts'
import type { FailureLog } from '../../client/controller/failure-log.ts'
import { apiVersionOf, type Resource } from '../../client/resource.ts'
import { metadataPages, watchMetadata } from '../../client/rest/metadata.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { StatusError } from '../../machinery/status-error.ts'
import type { Graph } from './graph/graph.ts'

export interface MonitorOptions {
  readonly client: RestClient
  readonly resource: Resource
  readonly graph: Graph
  readonly signal: AbortSignal
  /** Called when all objects are in the graph for the first time. */
  readonly synced: () => void
  /** Called after each change and after each list. */
  readonly changed: () => void
  /** Shared by all monitors, so that an unreachable server is logged once. */
  readonly failures: FailureLog
}

const minBackoffMs = 200
const maxBackoffMs = 30_000

/** Runs until `signal` is aborted; never rejects. */
export async function monitor(options: MonitorOptions): Promise<void> {
  const { client, resource, graph, signal, synced, changed, failures } = options
  let version = ''
  let backoffMs = minBackoffMs
  while (!signal.aborted) {
    try {
      if (!version) {
        version = await readAll(options)
        synced()
        changed()
      }
      for await (const { type, object } of watchMetadata(client, resource, { resourceVersion: version, signal })) {
        version = object.metadata.resourceVersion ?? version
        backoffMs = minBackoffMs
        if (type === 'BOOKMARK') continue
        if (type === 'DELETED') graph.remove(object.metadata.uid ?? '')
        else graph.observe(resource, object.metadata)
        changed()
      }
    } catch (error) {
      if (signal.aborted) return
      const code = error instanceof StatusError ? error.code : 0
      // The version was compacted (410), or the kind was removed (404), which discovery will report.
      if (code === 410 || code === 404) version = ''
      // The first lost connection, as at a restart of the server, is not logged.
      else if (backoffMs > minBackoffMs || !(error instanceof ConnectionLost)) {
        failures.record(
          resource.plural,
          error,
          Number.POSITIVE_INFINITY,
          `${resource.plural} cannot be watched, retrying`,
        )
      }
      await delay(backoffMs, undefined, { signal, ref: false }).catch(() => {})
      backoffMs = Math.min(backoffMs * 2, maxBackoffMs)
    }
  }
}

/** Replaces the kind's objects in the graph by those of a list; resolves with its resourceVersion. */
async function readAll({ client, resource, graph }: MonitorOptions): Promise<string> {
  const removed = observedUids(graph, resource)
  let resourceVersion = ''
  for await (const { items, metadata } of metadataPages(client, resource)) {
    for (const item of items) {
      removed.delete(item.metadata.uid ?? '')
      graph.observe(resource, item.metadata)
    }
    resourceVersion = metadata.resourceVersion
  }
  for (const uid of removed) graph.remove(uid)
  return resourceVersion
}

/** The uids of the kind's objects in the graph, without virtual ones. */
function observedUids(graph: Graph, resource: Resource): Set<string> {
  const uids = new Set<string>()
  const apiVersion = apiVersionOf(resource)
  for (const { identity, resource: observed } of graph.nodes())
    if (observed && identity.kind === resource.kind && identity.apiVersion === apiVersion) uids.add(identity.uid)
  return uids
}
