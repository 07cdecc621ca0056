/** Runs a plug-in's queueing hints for a pod that it rejected. */
import type { Pod } from '../../client/kinds.ts'
import { type ClusterEvent, type EventResource, type PluginFactory, PodInfo } from '../framework/index.ts'
import { makePlugin, type TestCluster } from './try-plugin.fixture.ts'

/**
 * Returns true if a registration of the plug-in matches the event and its hint agrees. Without registrations, every
 * event matches.
 */
export function mayHelp<R extends EventResource>(
  factory: PluginFactory,
  pod: Pod,
  event: ClusterEvent<R>,
  cluster: Pick<TestCluster, 'args' | 'objects'> = {},
): boolean {
  const { events } = makePlugin(factory, { nodes: [], ...cluster })
  if (!events) return true
  return events.some(({ resource, actions, mayHelp: hint }) => {
    if (resource !== event.resource || !(actions.includes(event.action) || actions.includes('Update'))) return false
    return hint ? hint(new PodInfo(pod), event.before, event.after) : true
  })
}
