/**
 * Works the objects of a kind into the graph that a controller follows as a whole anyway: its informer tells what a
 * watch of our own would.
 */
import { once } from 'node:events'
import type { SharedInformer } from '../../client/informers/shared-informers.ts'
import type { ObjectMeta } from '../../machinery/object.ts'
import type { MonitorOptions } from './monitor.ts'

export interface SharedMonitorOptions
  extends Pick<MonitorOptions, 'resource' | 'graph' | 'signal' | 'synced' | 'changed'> {
  readonly shared: SharedInformer
}

/** Ends when `signal` is aborted; never rejects. */
export async function sharedMonitor({
  shared: { informer, synced: known },
  resource,
  graph,
  signal,
  synced,
  changed,
}: SharedMonitorOptions): Promise<void> {
  if (signal.aborted) return
  const aborted = once(signal, 'abort')
  const end = informer.onChange((object, before) => {
    if (!object) graph.remove(before?.metadata.uid ?? '')
    else if (before && isSame(object.metadata, before.metadata))
      graph.renew(object.metadata.uid ?? '', object.metadata.resourceVersion ?? '')
    else graph.observe(resource, object.metadata)
    changed()
  })
  await Promise.race([known, aborted])
  synced()
  await aborted
  end()
}

/**
 * Whether the graph knows all but the version: an informer's objects have the parts of what they were before that have
 * not changed.
 */
const isSame = (now: ObjectMeta, before: ObjectMeta): boolean =>
  now.ownerReferences === before.ownerReferences &&
  now.finalizers === before.finalizers &&
  now.deletionTimestamp === before.deletionTimestamp
