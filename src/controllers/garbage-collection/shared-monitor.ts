/** Updates the graph from the existing informer of another controller, instead of a watch of its own. */
import { once } from 'node:events'
import type { SharedInformer } from '../../client/informers/shared-informers.ts'
import type { ObjectMeta } from '../../machinery/object.ts'
import type { MonitorOptions } from './monitor.ts'

export interface SharedMonitorOptions
  extends Pick<MonitorOptions, 'resource' | 'graph' | 'signal' | 'synced' | 'changed'> {
  readonly shared: SharedInformer
}

/** Runs until `signal` is aborted; never rejects. */
export async function sharedMonitor({
  shared: { informer, synced: informerSynced },
  resource,
  graph,
  signal,
  synced,
  changed,
}: SharedMonitorOptions): Promise<void> {
  if (signal.aborted) return
  const aborted = once(signal, 'abort')
  const end = informer.onChange((object, old) => {
    if (!object) graph.remove(old?.metadata.uid ?? '')
    else if (old && isSame(object.metadata, old.metadata))
      graph.updateVersion(object.metadata.uid ?? '', object.metadata.resourceVersion ?? '')
    else graph.observe(resource, object.metadata)
    changed()
  })
  await Promise.race([informerSynced, aborted])
  synced()
  await aborted
  end()
}

/**
 * Returns true if only the version changed. Informers share unchanged parts with the old object, so identity suffices.
 */
const isSame = (now: ObjectMeta, old: ObjectMeta): boolean =>
  now.ownerReferences === old.ownerReferences &&
  now.finalizers === old.finalizers &&
  now.deletionTimestamp === old.deletionTimestamp
