/** Follows the metadata of all objects of one kind and works it into the graph. Keeps nothing itself. */
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
  /** Called after changes, and when all objects were read. */
  readonly changed: () => void
  /** Shared by all monitors: a server that is away is so for all of them. */
  readonly failures: FailureLog
}

const shortestPauseMs = 200
const longestPauseMs = 30_000

/** Ends when `signal` is aborted; never rejects. */
export async function monitor({
  client,
  resource,
  graph,
  signal,
  synced,
  changed,
  failures,
}: MonitorOptions): Promise<void> {
  let version = ''
  let pauseMs = shortestPauseMs
  while (!signal.aborted) {
    try {
      if (!version) {
        version = await readAll()
        synced()
        changed()
      }
      for await (const { type, object } of watchMetadata(client, resource, { resourceVersion: version, signal })) {
        version = object.metadata.resourceVersion ?? version
        pauseMs = shortestPauseMs
        if (type === 'BOOKMARK') continue
        if (type === 'DELETED') graph.remove(object.metadata.uid ?? '')
        else graph.observe(resource, object.metadata)
        changed()
      }
    } catch (error) {
      if (signal.aborted) return
      const code = error instanceof StatusError ? error.code : 0
      // The past is forgotten, or the kind has gone: discovery will say so.
      if (code === 410 || code === 404) version = ''
      // A server that is started anew is missed once by everybody: that is told when it lasts.
      else if (pauseMs > shortestPauseMs || !(error instanceof ConnectionLost)) {
        failures.record(
          resource.plural,
          error,
          Number.POSITIVE_INFINITY,
          `${resource.plural} are not followed just now, trying again`,
        )
      }
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => {})
      pauseMs = Math.min(pauseMs * 2, longestPauseMs)
    }
  }

  async function readAll(): Promise<string> {
    const before = new Set<string>()
    const apiVersion = apiVersionOf(resource)
    for (const { identity, resource: seen } of graph.nodes()) {
      if (seen && identity.kind === resource.kind && identity.apiVersion === apiVersion) before.add(identity.uid)
    }
    let resourceVersion = ''
    for await (const { items, metadata } of metadataPages(client, resource)) {
      for (const item of items) {
        before.delete(item.metadata.uid ?? '')
        graph.observe(resource, item.metadata)
      }
      resourceVersion = metadata.resourceVersion
    }
    for (const uid of before) graph.remove(uid)
    return resourceVersion
  }
}
